import { describe, expect, it } from '@jest/globals';
import { LockTimeoutError } from '../../lib/core/errors/index.js';
import { expectLost } from '../contract/expect-lost.js';
import { eventually } from '../support/eventually.js';
import { onRedis } from './on-redis.js';

describe('A spin lock on a Redis that is gone', () => {
  const stage = onRedis('standalone');

  it('is not granted, and not waited for longer than requested (Redisson: RedissonSpinLockTest testRedisFailed)', async () => {
    const { mine, theirs, key } = stage();
    const lease = await mine.spinLock(key).acquire({ lease: 400 });
    const server = await stage().deployment.masterOf(key);
    await server.kill();
    try {
      const timeout = { wait: 300 };
      const spin = theirs.spinLock(key);
      await expect(spin.acquire(timeout)).rejects.toBeInstanceOf(LockTimeoutError);
      await expect(spin.tryAcquire(timeout)).rejects.toBeInstanceOf(LockTimeoutError);
      await eventually('the signal of its holder aborts', () => lease.signal.aborted);
      expectLost(lease);
      await lease.release(); // does not wait for the server, and does not throw
    } finally {
      await server.restart();
    }
    await using next = await theirs.spinLock(key).acquire();
    expect(next.isHeld).toBe(true);
  });
});
