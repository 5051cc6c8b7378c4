import { expect, it } from '@jest/globals';
import type { RedisStage } from './redis-stage.js';

/** In ms. None of the long leases ends during a test, so a waiter that is granted the lock was notified of its release. */
const LONG = 3_600_000;
const SHORT = 2_000;

/** A lock with one holder at a time. */
export interface ExclusiveRedisLock {
  /** `lock`, `fair`, … */
  readonly kind: string;
  /** What the channel of a waiter begins with. */
  channel(): string;
  /** What stays on the server for good. */
  kept?(): string[];
}

/** What such a lock promises, whichever process comes first. */
export function redisExclusionSuite(stage: RedisStage, exclusive: ExclusiveRedisLock): void {
  const { kind, channel, kept = () => [] } = exclusive;
  const lockOf = () => `${kind}:${stage.name}`;

  it.each(stage.ways)('excludes all others while $title', async ({ first, second }) => {
    const lock = lockOf();
    const [holder, another] = [first().redisActor(), second().redisActor()];
    expect(await holder.acquire(lock, { lease: LONG })).toBe(true);
    expect(await another.tryAcquire(lock)).toBe(false);
    expect(await another.acquire(lock, { wait: 300 })).toBe(false);
    expect(await first().redisActor().tryAcquire(lock)).toBe(false);

    await holder.release(lock);
    expect(await another.tryAcquire(lock)).toBe(true);
    expect(await holder.tryAcquire(lock)).toBe(false);
  });

  it.each(stage.ways)('wakes a waiter while $title', async ({ first, second }) => {
    const lock = lockOf();
    const [holder, waiter] = [first().redisActor(), second().redisActor()];
    await holder.acquire(lock, { lease: LONG });
    const log = await stage.log();
    const granted = waiter.acquire(lock, { lease: LONG });
    await stage.asleep(second(), channel(), log);
    await holder.release(lock);
    expect(await granted).toBe(true);

    const nextLog = await stage.log();
    const grantedBack = holder.acquire(lock, { lease: LONG });
    await stage.asleep(first(), channel(), nextLog);
    await waiter.release(lock);
    expect(await grantedBack).toBe(true);
  });

  it.each(stage.ways)('is held until its last release where $title', async ({ first, second }) => {
    const lock = lockOf();
    const [holder, another] = [first().redisActor(), second().redisActor()];
    await holder.acquire(lock);
    await holder.acquire(lock);
    await holder.release(lock);
    expect(await another.tryAcquire(lock)).toBe(false);
    await holder.release(lock);
    expect(await another.tryAcquire(lock)).toBe(true);
  });

  it.each(stage.ways)(
    'is free when the lease ends with which $title',
    async ({ first, second }) => {
      const lock = lockOf();
      await first().redisActor().acquire(lock, { lease: SHORT });
      const waiter = second().redisActor();
      expect(await waiter.tryAcquire(lock)).toBe(false);
      expect(await waiter.acquire(lock)).toBe(true);
    },
  );

  it('is granted to all waiters, and leaves no key and no subscription', async () => {
    const lock = lockOf();
    const turns = stage.owners(8).map(async (owner) => {
      await owner.acquire(lock, { lease: SHORT });
      await owner.release(lock);
    });
    await Promise.all(turns);
    await stage.emptyBut(kept());
  });
}
