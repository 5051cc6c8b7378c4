import { describe, expect, it } from '@jest/globals';
import type { RedisStage } from './redis-stage.js';

/** In ms. None of the long leases ends during a test, so a waiter that is granted the lock was notified of its release. */
const LONG = 3_600_000;
const SHORT = 2_000;

/** A lock with one holder at a time. */
interface ExclusiveRedisLock {
  readonly title: string;
  /** `lock`, `fair`, … */
  readonly kind: string;
  /** What the channel of a waiter begins with; none where waiters poll. */
  channel?(stage: RedisStage): string;
  /** What stays on the server for good. */
  kept?(stage: RedisStage): string[];
}

const EXCLUSIVE_LOCKS: readonly ExclusiveRedisLock[] = [
  { title: 'a lock', kind: 'lock', channel: ({ names }) => names.channel },
  { title: 'a fair lock', kind: 'fair', channel: ({ names }) => names.channel },
  {
    title: 'a fenced lock',
    kind: 'fenced',
    channel: ({ names }) => names.channel,
    kept: ({ names }) => [names.token],
  },
  { title: 'a write lock', kind: 'write', channel: ({ names }) => names.readWriteChannel },
  { title: 'a spin lock', kind: 'spin' },
];

/** What locks with one holder at a time promise, whichever process comes first. */
export function redisExclusionSuite(stage: RedisStage, ways = stage.ways): void {
  describe.each(EXCLUSIVE_LOCKS)('$title', ({ kind, channel, kept = () => [] }) => {
    const lockOf = () => `${kind}:${stage.name}`;

    it.each(ways)('excludes all others while $title', async (way) => {
      const lock = lockOf();
      const [holder, another] = way.redisActors();
      expect(await holder.acquire(lock, { lease: LONG })).toBe(true);
      expect(await another.tryAcquire(lock)).toBe(false);
      expect(await another.acquire(lock, { wait: 100 })).toBe(false);
      expect(await way.first().redisActor().tryAcquire(lock)).toBe(false);

      await holder.release(lock);
      expect(await another.tryAcquire(lock)).toBe(true);
      expect(await holder.tryAcquire(lock)).toBe(false);
    });

    if (channel) {
      it.each(ways)('wakes a waiter while $title', async (way) => {
        const lock = lockOf();
        const [first, second] = way.peers();
        const [holder, waiter] = way.redisActors();
        await holder.acquire(lock, { lease: LONG });
        const log = await stage.log();
        const granted = waiter.acquire(lock, { lease: LONG });
        await stage.asleep(second, channel(stage), log);
        await holder.release(lock);
        expect(await granted).toBe(true);

        const nextLog = await stage.log();
        const grantedBack = holder.acquire(lock, { lease: LONG });
        await stage.asleep(first, channel(stage), nextLog);
        await waiter.release(lock);
        expect(await grantedBack).toBe(true);
      });
    }

    it.each(ways)('is held until its last release where $title', async (way) => {
      const lock = lockOf();
      const [holder, another] = way.redisActors();
      await holder.acquire(lock);
      await holder.acquire(lock);
      await holder.release(lock);
      expect(await another.tryAcquire(lock)).toBe(false);
      await holder.release(lock);
      expect(await another.tryAcquire(lock)).toBe(true);
    });

    it('is granted to all waiters, and leaves no key and no subscription', async () => {
      const lock = lockOf();
      const turns = stage.owners(8).map(async (owner) => {
        await owner.acquire(lock, { lease: SHORT });
        await owner.release(lock);
      });
      await Promise.all(turns);
      await stage.emptyBut(kept(stage));
    });
  });

  it('locks of all kinds are free when the lease ends with which they are held', async () => {
    // All at once, because each has to wait for the end of a lease.
    const cases = ways.flatMap((way) => EXCLUSIVE_LOCKS.map(({ kind }) => ({ kind, way })));
    const outcomes = cases.map(async ({ kind, way }, n) => {
      const [holder, waiter] = way.redisActors();
      const lock = `${kind}:${stage.name}-${n}`;
      await holder.acquire(lock, { lease: SHORT });
      const [atOnce, later] = [await waiter.tryAcquire(lock), await waiter.acquire(lock)];
      return { kind, way: way.title, atOnce, later };
    });
    const expected = { atOnce: false, later: true };
    expect(await Promise.all(outcomes)).toEqual(
      cases.map(({ kind, way }) => ({ kind, way: way.title, ...expected })),
    );
  });
}
