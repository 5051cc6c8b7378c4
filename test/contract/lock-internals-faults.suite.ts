import { describe, expect, it, jest } from '@jest/globals';
import { LockConnectionError } from '../../lib/core/errors/index.js';
import type { Lock } from '../../lib/core/lock.js';
import { Permission } from '../../lib/zookeeper/connection/zookeeper-connection.js';
import type { Client } from './client.js';
import type { Stage } from './stage.js';

const MAKE = Permission.CREATE | Permission.ADMIN;

/** An acquire that fails after its node was created, here because it may not list the directory. */
export function lockInternalsFaultsSuite(stage: () => Stage): void {
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
      const { mine, stranger, key, path } = stage();
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
      const [left] = await stage().nodes();
      await stranger.delete(`${path}/${left}`);
    });
  });

  async function permit(perms: number): Promise<void> {
    const { stranger, path, mine } = stage();
    await stranger.setAcl(path, [{ perms, scheme: 'world', id: 'anyone' }]);
    await stage().caughtUp(mine);
  }
}
