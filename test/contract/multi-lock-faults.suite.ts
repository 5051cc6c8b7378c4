import { describe, expect, it, jest } from '@jest/globals';
import { LockClientClosedError } from '../../lib/core/errors/index.js';
import { Permission } from '../../lib/zookeeper/connection/zookeeper-connection.js';
import { eventually } from '../support/eventually.js';
import type { Client } from './client.js';
import { expectLost } from './expect-lost.js';
import type { Stage } from './stage.js';

/** What happens to the whole when something happens to a part. */
export function multiLockFaultsSuite(stage: () => Stage): void {
  const keyOf = (part: string) => `${stage().key}-${part}`;
  const pathOf = (part: string) => `/locks/${keyOf(part)}`;
  const multiOf = ({ locks }: Client, ...parts: string[]) =>
    locks.multiLock(parts.map((part) => locks.mutex(keyOf(part))));

  it('releases the parts that are held when one cannot be acquired (Curator: testSomeLocksFailToLock)', async () => {
    const { mine, theirs } = stage();
    const dead = await stage().client();
    const parts = [mine.locks.mutex(keyOf('a')), dead.locks.mutex(keyOf('b'))];
    const multi = mine.locks.multiLock([...parts, mine.locks.mutex(keyOf('c'))]);
    await dead.locks.close();
    await expect(multi.acquire()).rejects.toBeInstanceOf(LockClientClosedError);
    await expect(multi.tryAcquire()).rejects.toBeInstanceOf(LockClientClosedError);
    expect(mine.requests.some(({ path }) => path.startsWith(pathOf('c')))).toBe(false);
    await using next = await theirs.locks.mutex(keyOf('a')).acquire({ wait: 10_000 });
    expect(next.isHeld).toBe(true);
  });

  it('releases the other parts when one cannot be released (Curator: testSomeReleasesFail)', async () => {
    const { mine, theirs, stranger } = stage();
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const onlyRead = [{ perms: Permission.READ, scheme: 'world', id: 'anyone' }];
    try {
      const lease = await multiOf(mine, 'a', 'b', 'c').acquire();
      await stranger.setAcl(pathOf('b'), onlyRead);
      await lease.release();
      expect(warn).toHaveBeenCalledWith(expect.stringMatching(/not allowed to remove.*NOAUTH/));
      for (const part of ['a', 'c']) {
        await using next = await theirs.locks.mutex(keyOf(part)).tryAcquire();
        expect(next?.isHeld).toBe(true);
      }
    } finally {
      warn.mockRestore();
    }
  });

  it('is lost, and holds the other parts until its release, when another client deletes the node of one', async () => {
    const { mine, theirs, stranger } = stage();
    const lease = await multiOf(mine, 'a', 'b', 'c').acquire();
    await lease.fencingToken(); // it watches its nodes from now on
    const { signal } = lease;
    const [node] = await stage().queueIn(pathOf('b'));
    await stranger.delete(node!);
    await eventually('the signal of the holder aborts', () => signal.aborted);
    expect((signal.reason as Error).message).toContain(`its part "${keyOf('b')}"`);
    expectLost(lease);
    for (const part of ['a', 'c'])
      expect(await theirs.locks.mutex(keyOf(part)).tryAcquire()).toBeUndefined();
    await lease.release();
    await using next = await multiOf(theirs, 'a', 'b', 'c').tryAcquire();
    expect(next?.isHeld).toBe(true);
  });

  it('is lost as a whole when the session of one part ends', async () => {
    const { mine, theirs } = stage();
    const multi = mine.locks.multiLock([
      mine.locks.mutex(keyOf('a')),
      theirs.locks.mutex(keyOf('b')),
    ]);
    const lease = await multi.acquire();
    const { signal } = lease;
    await stage().expire(theirs);
    expect(signal.aborted).toBe(true);
    expectLost(lease);
    await lease.release();
    expect(await stage().queueIn(pathOf('a'))).toEqual([]);
  });

  describe('when one part is lost while it waits for the next', () => {
    it('begins again and holds all of them, if the session of the part ended', async () => {
      const { mine, theirs } = stage();
      const third = await stage().client();
      const holder = await third.locks.mutex(keyOf('b')).acquire();
      const multi = mine.locks.multiLock([
        mine.locks.mutex(keyOf('a')),
        theirs.locks.mutex(keyOf('b')),
      ]);
      const waiting = multi.acquire();
      await eventually('it waits', async () => (await stage().queueIn(pathOf('b'))).length === 2);
      await stage().expire(mine);
      await using meanwhile = await third.locks.mutex(keyOf('a')).acquire({ wait: 10_000 });
      await holder.release();
      await eventually('it queues again', async () => {
        return (await stage().queueIn(pathOf('a'))).length === 2;
      });
      await meanwhile.release();
      await using lease = await waiting;
      expect(lease.isHeld).toBe(true);
      for (const part of ['a', 'b'])
        expect(await third.locks.mutex(keyOf(part)).tryAcquire()).toBeUndefined();
    });

    it('is not granted without that part, if another client deleted its node', async () => {
      const { mine, theirs, stranger } = stage();
      const holder = await theirs.locks.mutex(keyOf('b')).acquire();
      const waiting = multiOf(mine, 'a', 'b').acquire();
      await eventually('it waits', async () => (await stage().queueIn(pathOf('b'))).length === 2);
      const watches = () =>
        mine.requests.some((it) => it.op === 'getData' && it.path.startsWith(`${pathOf('a')}/`));
      await eventually('its long hold is watched', watches);
      await mine.connection.exists('/'); // when that is answered, the watch is set
      const [node] = await stage().queueIn(pathOf('a'));
      await stranger.delete(node!);
      await stage().caughtUp(mine);
      await holder.release();
      await using lease = await waiting;
      expect(lease.isHeld).toBe(true);
      expect(await theirs.locks.mutex(keyOf('a')).tryAcquire()).toBeUndefined();
    });
  });

  it('goes on when the servers go and come back while it waits for the next', async () => {
    const { mine, theirs } = stage();
    const holder = await theirs.locks.mutex(keyOf('b')).acquire();
    const waiting = multiOf(mine, 'a', 'b').acquire();
    await eventually('it waits', async () => (await stage().queueIn(pathOf('b'))).length === 2);
    await stage().down();
    await stage().up();
    await holder.release();
    await using lease = await waiting;
    expect(lease.isHeld).toBe(true);
  });
}
