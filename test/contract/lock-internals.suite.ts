import { describe, expect, it, jest } from '@jest/globals';
import { LockConnectionError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import type { Lock } from '../../lib/core/lock.js';
import { Permission } from '../../lib/zookeeper/connection/zookeeper-connection.js';
import { eventually } from '../support/time.js';
import { type Deployment, type LockStage, onStage, type StageClient } from './backends/stage.js';
import { type Backend, type Client, Stage } from './backends/zookeeper.js';
import {
  revocationListenersSuite,
  revocationOutagesSuite,
  revocationSuite,
} from './revocation.suite.js';

/**
 * What locks of different kinds have in common, whatever servers they stand on. It contains the cases of Curator's
 * TestLockInternals, and those of TestInterProcessMutex that are about more than the mutex (testRevoking). Drivers of the
 * user's (testPersistentLock) and path schemas (testWithSchema) are not there.
 */
export function lockInternalsSuite(on: Deployment<Backend>): void {
  describe(`On ${on.name}`, () => {
    const stage = onStage(() => Stage.build(on.backend()));
    on.part('an acquire that fails on the way', 'server', () => lockInternalsFaultsSuite(stage));
    on.part('the revocation', 'deployment', () => revocationSuite(stage));
    on.part('the revocation over an outage', 'recipe', () => revocationOutagesSuite(stage));
    on.part('the listeners of a revocation', 'server', () => revocationListenersSuite(stage));
    on.part('await using', 'client', () => lockerSuite(stage));
  });
}

const MAKE = Permission.CREATE | Permission.ADMIN;

/** An acquire that fails after its node was created, here because it may not list the directory. */
function lockInternalsFaultsSuite(stage: () => Stage): void {
  describe.each<[string, (client: Client, key: string) => Lock]>([
    ['mutex', (client, key) => client.mutex(key)],
    ['read lock', (client, key) => client.readLock(key)],
    ['write lock', (client, key) => client.writeLock(key)],
  ])('of a %s', (_, lockOf) => {
    it.each(['acquire', 'tryAcquire'] as const)(
      'removes its node: %s (Curator: testNodeDeletedCleanlyWithFaults)',
      async (method) => {
        const { mine, theirs, key } = stage();
        const lock = lockOf(mine, key);
        await lock.using(async () => {}); // makes the directory
        await permit(MAKE | Permission.DELETE);
        const failure = lock[method]();
        await expect(failure).rejects.toBeInstanceOf(LockConnectionError);
        await expect(failure).rejects.toThrow(/NOAUTH/);
        await stage().caughtUp(mine);

        await permit(Permission.ALL);
        expect(await stage().nodes()).toEqual([]);
        await using next = await lockOf(theirs, key).tryAcquire();
        expect(next?.isHeld).toBe(true);
      },
    );

    it('ends with its own error when that removal fails too (Curator: testAttemptLockFailedException)', async () => {
      const { mine, key } = stage();
      const lock = lockOf(mine, key);
      await lock.using(async () => {});
      await permit(MAKE);
      const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
      try {
        const failure = lock.acquire();
        await expect(failure).rejects.toBeInstanceOf(LockConnectionError);
        await expect(failure).rejects.toThrow(/getChildren/);
        await stage().caughtUp(mine);
        expect(warn).toHaveBeenCalledWith(expect.stringMatching(/not allowed to remove.*NOAUTH/));
      } finally {
        warn.mockRestore();
        await permit(Permission.ALL);
      }
      await eventually(
        'it was removed in the background',
        async () => (await stage().nodes()).length === 0,
      );
    });
  });

  async function permit(perms: number): Promise<void> {
    const { stranger, path, mine } = stage();
    await stranger.setAcl(path, [{ perms, scheme: 'world', id: 'anyone' }]);
    await stage().caughtUp(mine);
  }
}

/** `await using`, which Curator's `Locker` is for: what a block has acquired, its end releases. */
export function lockerSuite(stage: () => LockStage): void {
  const locks: [string, (client: StageClient, key: string) => Lock][] = [
    ['mutex', ({ locks }, key) => locks.mutex(key)],
    ['read lock', ({ locks }, key) => locks.readWriteLock(key).readLock()],
    ['write lock', ({ locks }, key) => locks.readWriteLock(key).writeLock()],
    ['semaphore', ({ locks }, key) => locks.semaphore(key, { permits: 1 })],
    ['semaphore mutex', ({ locks }, key) => locks.semaphoreMutex(key)],
    ['multi-lock', ({ locks }, key) => locks.multiLock([locks.mutex(key), locks.mutex('other')])],
  ];

  describe.each(locks)('with a %s', (_, lockOf) => {
    it('releases at the end of the block (Curator: testLocker)', async () => {
      const { mine, key } = stage();
      const lock = lockOf(mine, key);
      const leases = [];
      {
        await using lease = await lock.acquire();
        expect(lease.isHeld).toBe(true);
        leases.push(lease);
      }
      {
        await using lease = await lock.tryAcquire();
        expect(lease?.isHeld).toBe(true);
        leases.push(lease);
      }
      expect(leases.map((lease) => lease?.isHeld)).toEqual([false, false]);
      expect(await stage().remains()).toEqual([]);
    });

    it('releases when the block throws, and keeps the error as it is', async () => {
      const { mine, key } = stage();
      const lock = lockOf(mine, key);
      const error = new Error('no paper');
      const work = async () => {
        await using lease = await lock.acquire();
        expect(lease.isHeld).toBe(true);
        throw error;
      };
      await expect(work()).rejects.toBe(error);
      expect(await stage().remains()).toEqual([]);
    });

    it('does nothing where the block has released before', async () => {
      const { mine, theirs, key } = stage();
      let rival: Lease | undefined;
      {
        await using lease = await lockOf(mine, key).acquire();
        await lease.release();
        rival = await lockOf(theirs, key).tryAcquire();
      }
      expect(rival?.isHeld).toBe(true);
      await rival!.release();
    });
  });

  it('does nothing where tryAcquire got nothing', async () => {
    const { mine, theirs, key } = stage();
    await using held = await mine.locks.mutex(key).acquire();
    {
      await using nothing = await theirs.locks.mutex(key).tryAcquire();
      expect(nothing).toBeUndefined();
    }
    expect(held.isHeld).toBe(true);
  });
}
