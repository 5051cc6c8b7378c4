import { expect, it } from '@jest/globals';
import { currentLease } from '../../lib/core/internal/lease-scope.js';
import { LockTimeoutError } from '../../lib/core/errors/index.js';
import type { LockStage } from './lock-stage.js';

/** What sets a semaphore mutex apart. */
export function mutexNonReentrantSuite(stage: () => LockStage): void {
  it('a nested acquire waits for itself', async () => {
    const { mine, key } = stage();
    const mutex = mine.lock(key);
    await mutex.using(async (lease) => {
      expect(currentLease()).toBe(lease);
      await expect(mutex.acquire({ wait: 30 })).rejects.toBeInstanceOf(LockTimeoutError);
      expect(await mutex.tryAcquire()).toBeUndefined();
      expect(lease.isHeld).toBe(true);
    });
  });
}
