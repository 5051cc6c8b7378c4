import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Watcher } from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { Client } from '../../contract/client.js';
import { EmbeddedBackend } from '../../contract/embedded-backend.js';
import { eventually } from '../../support/eventually.js';

describe('A waiter at a barrier', () => {
  let mine: Client;
  let theirs: Client;
  /** The paths of each watcher that was put on, and not taken off again. */
  let watching: Map<Watcher, Set<string>>;

  beforeEach(async () => {
    const { transport, servers } = await new EmbeddedBackend().connect();
    mine = new Client(transport, servers, {});
    theirs = new Client(transport, servers, {});
    await Promise.all([mine.locks.connect(), theirs.locks.connect()]);
    watching = new Map();
    const { connection } = mine;
    const { exists, getData, unwatch } = connection;
    const note = (path: string, watcher: Watcher | undefined) => {
      if (watcher) watching.set(watcher, new Set(watching.get(watcher)).add(path));
    };
    jest.spyOn(connection, 'exists').mockImplementation((path, watcher) => {
      note(path, watcher);
      return exists.call(connection, path, watcher);
    });
    jest.spyOn(connection, 'getData').mockImplementation((path, watcher) => {
      note(path, watcher);
      return getData.call(connection, path, watcher);
    });
    jest.spyOn(connection, 'unwatch').mockImplementation((path, watcher) => {
      watching.get(watcher)?.delete(path);
      if (watching.get(watcher)?.size === 0) watching.delete(watcher);
      unwatch.call(connection, path, watcher);
    });
  });
  afterEach(() => Promise.all([mine.locks.close(), theirs.locks.close()]));

  it('leaves no watcher on it, however the wait ends', async () => {
    await theirs.locks.barrier('gate').setBarrier();
    await expectEndsClean((signal) => mine.locks.barrier('gate').waitOnBarrier({ signal }));
    const over = mine.locks.barrier('gate').waitOnBarrier();
    await eventually('it watches', () => watching.size > 0);
    await theirs.locks.barrier('gate').removeBarrier();
    await over;
    expect(watching.size).toBe(0);
  });

  it('leaves no watcher on a double one, however the entry or the departure ends', async () => {
    const [ours, other] = [mine, theirs].map(({ locks }) => locks.doubleBarrier('gate', 2));
    await expectEndsClean((signal) => ours!.enter({ signal }));
    await Promise.all([ours!.enter(), other!.enter()]);
    expect(watching.size).toBe(0);
    await expectEndsClean((signal) => ours!.leave({ signal }));
    await other!.leave();
    await Promise.all([ours!.enter(), other!.enter()]);
    await Promise.all([ours!.leave(), other!.leave()]);
    expect(watching.size).toBe(0);
  });

  async function expectEndsClean(wait: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const abort = new AbortController();
    const over = wait(abort.signal);
    const aborted = expect(over).rejects.toMatchObject({ code: 'LOCK_ABORTED' });
    await eventually('it watches', () => watching.size > 0);
    abort.abort();
    await aborted;
    expect(watching.size).toBe(0);
  }
});
