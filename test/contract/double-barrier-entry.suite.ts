import { expect, it } from '@jest/globals';
import {
  LockAbortedError,
  LockClientClosedError,
  LockConnectionError,
  LockTimeoutError,
} from '../../lib/core/errors/index.js';
import { CreateMode, Permission } from '../../lib/zookeeper/connection/zookeeper-connection.js';
import { eventually } from '../support/eventually.js';
import type { DoubleBarrierStage } from './double-barrier-stage.js';
import type { Stage } from './stage.js';

/** The way in. */
export function doubleBarrierEntrySuite(stage: () => Stage, barriers: DoubleBarrierStage): void {
  it('counts its members anew when another one comes, without those that have gone again', async () => {
    const { mine, theirs } = stage();
    const first = await barriers.come(barriers.of(mine, 3));
    const abort = new AbortController();
    const fleeting = await barriers.come(barriers.of(theirs, 3), { signal: abort.signal });
    abort.abort();
    await expect(fleeting.entered).rejects.toBeInstanceOf(LockAbortedError);
    await barriers.becomes(1);
    const second = await barriers.come(barriers.of(theirs, 3));
    await barriers.expectWaiting(theirs, second.entered);
    await barriers.expectWaiting(mine, first.entered);
    const third = await barriers.come(barriers.of(mine, 3));
    await Promise.all([first.entered, second.entered, third.entered]);
  });

  it('lets no member in for being woken, whatever wakes it', async () => {
    const { mine, theirs, stranger, path } = stage();
    const first = await barriers.come(barriers.of(mine, 2), { wait: 60_000 });
    await barriers.expectWaiting(mine, first.entered);
    const asked = mine.requests.length;
    await stranger.setData(`${path}/${first.name}`, Buffer.from('something'));
    await eventually('it has looked again', () => mine.requests.length > asked);
    await barriers.expectWaiting(mine, first.entered);
    expect(await barriers.isOpen()).toBe(false);
    await barriers.of(theirs, 2).enter({ wait: 60_000 });
    await first.entered;
  });

  it('rejects the entry when its time is over, and keeps nothing of it', async () => {
    const { mine, theirs, key } = stage();
    const hasty = barriers.of(mine, 2);
    const late = hasty.enter({ wait: 100 });
    await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
    await expect(late).rejects.toMatchObject({ waitedMs: 100, key, client: 'contract' });
    await barriers.expectEmpty();

    const other = await barriers.come(barriers.of(theirs, 2));
    await barriers.expectWaiting(theirs, other.entered);
    await hasty.enter({ wait: 60_000 }); // it may try again
    await other.entered;
  });

  it('rejects the entry after the default wait of the client', async () => {
    const hasty = await stage().client({ wait: 50 });
    await expect(barriers.of(hasty, 2).enter()).rejects.toMatchObject({ waitedMs: 50 });
    await barriers.expectEmpty();
  });

  it('rejects the entry when its signal aborts, and keeps nothing of it', async () => {
    const { mine } = stage();
    const abort = new AbortController();
    const { entered } = await barriers.come(barriers.of(mine, 2), { signal: abort.signal });
    abort.abort('enough');
    await expect(entered).rejects.toMatchObject({ code: 'LOCK_ABORTED', cause: 'enough' });
    await barriers.expectEmpty();
    const asked = mine.requests.length;
    const refused = barriers.of(mine, 2).enter({ signal: abort.signal });
    await expect(refused).rejects.toBeInstanceOf(LockAbortedError);
    expect(mine.requests).toHaveLength(asked);
  });

  it('rejects the entry when the client shuts down, and keeps nothing of it', async () => {
    const { mine } = stage();
    const { entered } = await barriers.come(barriers.of(mine, 2));
    mine.locks.refuse();
    await expect(entered).rejects.toBeInstanceOf(LockClientClosedError);
    await barriers.expectEmpty();
    await expect(barriers.of(mine, 2).enter()).rejects.toBeInstanceOf(LockClientClosedError);
  });

  it('rejects the entry when the client closes, and keeps nothing of it', async () => {
    const { mine } = stage();
    const { entered } = await barriers.come(barriers.of(mine, 2));
    const closing = mine.locks.close();
    await expect(entered).rejects.toBeInstanceOf(LockClientClosedError);
    await closing;
    await barriers.expectEmpty();
  });

  it('sends no request while it waits, and reacts to nothing after the entry has ended', async () => {
    const { mine, theirs } = stage();
    const abort = new AbortController();
    const waiting = await barriers.come(barriers.of(mine, 3), { signal: abort.signal });
    await stage().caughtUp(mine);
    const asked = mine.requests.length;
    const other = await barriers.come(barriers.of(theirs, 3));
    await stage().caughtUp(mine);
    abort.abort();
    await expect(waiting.entered).rejects.toBeInstanceOf(LockAbortedError);
    await barriers.becomes(1);
    expect(mine.requests.slice(asked).map(({ op }) => op)).toEqual(['delete']);
    const [second, third] = [barriers.of(theirs, 3), barriers.of(theirs, 3)];
    await Promise.all([second.enter(), third.enter(), other.entered]);
    await stage().caughtUp(mine);
    expect(mine.requests.slice(asked)).toHaveLength(1);
  });

  it('makes another node for a member when another client deletes the first one', async () => {
    const { mine, theirs, stranger, path } = stage();
    const first = await barriers.come(barriers.of(mine, 2));
    await stranger.delete(`${path}/${first.name}`);
    await eventually('it has come again', async () => (await barriers.members()).length === 1);
    await barriers.of(theirs, 2).enter({ wait: 60_000 });
    await first.entered;
  });

  it('lets no member in by the remains of a round that has crashed', async () => {
    const { mine, theirs, stranger, path } = stage();
    await expect(barriers.of(mine, 2).enter({ wait: 50 })).rejects.toThrow(); // makes the directory
    await barriers.expectEmpty();
    await stranger.create(`${path}/ready`, Buffer.alloc(0), CreateMode.PERSISTENT);
    const first = await barriers.come(barriers.of(mine, 2));
    await barriers.expectWaiting(mine, first.entered);
    await barriers.of(theirs, 2).enter({ wait: 60_000 });
    await first.entered;
  });

  it('rejects with LockConnectionError when the servers refuse access, and keeps nothing of the entry', async () => {
    const { mine, stranger, path } = stage();
    await expect(barriers.of(mine, 2).enter({ wait: 50 })).rejects.toThrow();
    await barriers.expectEmpty();
    await permit(Permission.READ | Permission.ADMIN);
    const refused = barriers.of(mine, 1).enter();
    await expect(refused).rejects.toBeInstanceOf(LockConnectionError);
    await expect(refused).rejects.toThrow(/NOAUTH/);
    await permit(Permission.ALL);
    await barriers.expectEmpty();

    async function permit(perms: number): Promise<void> {
      await stranger.setAcl(path, [{ perms, scheme: 'world', id: 'anyone' }]);
      await stage().caughtUp(mine);
    }
  });
}
