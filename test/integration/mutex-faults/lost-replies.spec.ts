import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { LockAbortedError, LockTimeoutError } from '../../../lib/core/errors/index.js';
import { FaultProxy } from '../../support/fault-proxy.js';
import { OpCode } from '../../support/op-code.js';
import { ZooKeeperServer } from '../../support/zookeeper-server.js';
import { TestClient } from '../support/test-client.js';

describe('A mutex, with its connection cut', () => {
  let server: ZooKeeperServer;
  let proxy: FaultProxy;
  let client: TestClient;
  let other: TestClient;
  let key: string;
  let directory: string;

  /** Cuts the connection of `client` at its next such request to the directory of the lock. */
  function cut(when: 'before' | 'after', operation: keyof typeof OpCode): Promise<unknown> {
    const trap = when === 'before' ? proxy.cutBefore : proxy.cutAfter;
    return trap.call(
      proxy,
      ({ opcode, path }) => opcode === OpCode[operation] && path.startsWith(directory),
    );
  }

  beforeAll(async () => {
    server = await ZooKeeperServer.start({ containerCheckIntervalMs: 600_000 }); // keeps empty directories
    proxy = await FaultProxy.start(server);
    other = await TestClient.connect(server.connectString);
  });
  afterAll(async () => {
    await other.locks.close();
    proxy.stop();
    await server.stop();
  });

  beforeEach(async () => {
    key = randomUUID();
    directory = `/locks/${key}`;
    client = await TestClient.connect(proxy.connectString);
    await other.locks.mutex(key).using(() => {}); // its directory is there
  });
  afterEach(async () => {
    proxy.cut(); // first: the driver blocks in close() until it is answered, and the proxy lives on this event loop
    await client.locks.close();
  });

  const cuts = [
    ['before', 'create'],
    ['after', 'create'],
    ['before', 'getChildren'],
    ['after', 'getChildren'],
  ] as const;

  it.each(cuts)('%s its %s, is acquired with one node all the same', async (when, operation) => {
    const isCut = cut(when, operation);
    const lease = await client.locks.mutex(key).acquire();
    await isCut;
    const { id } = client.connection.session!;
    const [node] = await other.queue(directory, 1);
    expect(await other.connection.exists(`${directory}/${node}`)).toMatchObject({
      ephemeralOwner: id,
    });
    expect([lease.isHeld, lease.signal.aborted]).toEqual([true, false]);
    await lease.release();
    await other.queue(directory, 0);
    expect(client.states).toEqual(['SUSPENDED', 'RECONNECTED']);
  });

  it.each([...cuts, ['before', 'getData'], ['after', 'getData']] as const)(
    '%s its %s, is queued for with one node all the same',
    async (when, operation) => {
      const lease = await other.locks.mutex(key).acquire();
      const isCut = cut(when, operation);
      const queued = client.locks.mutex(key).acquire();
      await isCut;
      await client.reached('RECONNECTED');
      const [holding] = await other.queue(directory, 2);
      expect(await other.locks.mutex(key).participants()).toHaveLength(2);
      await lease.release();
      const next = await queued;
      expect(await other.queue(directory, 1)).not.toContain(holding);
      await next.release();
      await other.queue(directory, 0);
    },
  );

  it.each(cuts)('%s its %s in a tryAcquire, keeps no node', async (when, operation) => {
    await using _held = await other.locks.mutex(key).acquire();
    const isCut = cut(when, operation);
    expect(await client.locks.mutex(key).tryAcquire()).toBeUndefined();
    await isCut;
    await other.queue(directory, 1);
  });

  it.each(['before', 'after'] as const)('%s its delete, is released', async (when) => {
    const lease = await client.locks.mutex(key).acquire();
    const isCut = cut(when, 'delete');
    await lease.release();
    await isCut;
    await other.locks.mutex(key).using(() => {});
    await other.queue(directory, 0);
  });

  describe('and stays down until the acquire was given up', () => {
    it.each([
      ['by its deadline', LockTimeoutError, () => ({ wait: 300 })],
      ['by its signal', LockAbortedError, () => ({ signal: AbortSignal.timeout(300) })],
    ])('%s, keeps no node', async (_, error, options) => {
      const isCut = cut('after', 'create').then(() => proxy.refuse());
      await expect(client.locks.mutex(key).acquire(options())).rejects.toThrow(error);
      await isCut;
      await other.queue(directory, 1);
      await proxy.accept();
      await other.queue(directory, 0);
    });
  });

  it('not at all, but silent until the acquire was given up, keeps no node', async () => {
    proxy.hold();
    await expect(client.locks.mutex(key).acquire({ wait: 200 })).rejects.toThrow(LockTimeoutError);
    const created = new Promise<unknown>((resolve) => {
      void other.connection.getChildren(directory, resolve);
    });
    await other.queue(directory, 0);
    proxy.release();
    await created;
    await other.queue(directory, 0);
  });
});
