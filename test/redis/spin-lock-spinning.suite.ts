import { expect, it } from '@jest/globals';
import { LockOptionsError } from '../../lib/core/errors/index.js';
import {
  type BackOff,
  ConstantBackOff,
  ExponentialBackOff,
} from '../../lib/redis/locks/back-off.js';
import { lockAcquire } from '../../lib/redis/scripts/index.js';
import { eventually } from '../support/eventually.js';
import type { RedisStage } from './redis-stage.js';

/** Longer than any test. */
const LONG = 600_000;

/** How a waiter polls a spin lock, and how often. */
export function spinLockSpinningSuite(stage: () => RedisStage): void {
  it('is waited for and released without a message', async () => {
    const { mine, theirs, key } = stage();
    const log = await stage().log();
    const lease = await mine.spinLock(key).acquire();
    const { lease: waiting } = await stage().queue(theirs, theirs.spinLock(key));
    await lease.release();
    await (await waiting).release();
    expect(await log.published(key)).toEqual([]);
    expect(await log.commands('subscribe" "redisson')).toEqual([]);
  });

  it('is a hash like that of a mutex, and nothing else', async () => {
    const { mine, key } = stage();
    await using lease = await mine.spinLock(key).acquire({ lease: 5_000 });
    expect(await stage().keys()).toEqual([key]);
    expect(await stage().fields(key)).toMatchObject({ [lease.holder]: '1' });
    expect(await stage().command('PTTL', key)).toBeGreaterThan(3_000);
  });

  it('is polled after the delays of the policy', async () => {
    const { mine, theirs, key } = stage();
    const lease = await mine.spinLock(key).acquire({ lease: LONG });
    const backOff = new Counting(new ExponentialBackOff({ initialDelay: 20, maxDelay: 80 }));
    const startedAt = performance.now();
    const waiting = theirs.spinLock(key, { backOff }).acquire();
    await eventually('it has asked often', () => backOff.delaysGiven.length >= 6);
    const [next, ...slept] = backOff.delaysGiven.toReversed();
    expect(next).toBe(80);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(sum(slept) - slept.length);
    await lease.release();
    await (await waiting).release();
    expect(backOff.begun).toBe(1);
  });

  it('takes its delays from an object of the user', async () => {
    const { mine, theirs, key } = stage();
    const lease = await mine.spinLock(key).acquire({ lease: LONG });
    const backOff = new Counting({ delays: () => () => 7 });
    const { lease: waiting } = await stage().queue(theirs, theirs.spinLock(key, { backOff }));
    await eventually('it has asked', () => backOff.delaysGiven.length >= 3);
    await lease.release();
    await using next = await waiting;
    expect(next.isHeld).toBe(true);
  });

  it("is polled at the end of its holder's lease, however long the delay", async () => {
    const { mine, theirs, key } = stage();
    const backOff = new ConstantBackOff(LONG);
    for (let time = 0; time < 20; time++) {
      await mine.spinLock(key).acquire({ lease: 100 });
      await using next = await theirs.spinLock(key, { backOff }).acquire({ wait: 5_000 });
      expect(next.isHeld).toBe(true);
    }
  }, 30_000);

  it('is polled by only one caller of a process, however many wait', async () => {
    const { mine, theirs, key } = stage();
    const lease = await mine.spinLock(key).acquire({ lease: LONG });
    const backOff = new Counting(new ConstantBackOff(20));
    const spin = theirs.spinLock(key, { backOff });
    const log = await stage().log();
    const waiting = Array.from({ length: 30 }, () => spin.acquire());
    await eventually('it was asked often', async () => (await asked()).length >= 10);
    expect(new Set(await asked()).size).toBe(1);
    expect(backOff.begun).toBe(1);

    await lease.release();
    for (const each of waiting) await (await each).release(); // in the order of arrival
    expect(backOff.delaysGiven.length).toBeGreaterThanOrEqual(9);

    /** The owner that polled the lock, at each time. */
    async function asked(): Promise<string[]> {
      const sent = await log.commands(`"${lockAcquire.sha1}"`);
      return sent.map((line) => /"([0-9a-f-]{36}:\d+)"/.exec(line)![1]!);
    }
  });

  it('is polled no more often than its policy allows, in a second', async () => {
    const { mine, theirs, key } = stage();
    await using _ = await mine.spinLock(key).acquire({ lease: LONG });
    const log = await stage().log();
    const backOff = new ConstantBackOff(100, () => 0); // at least 75 ms
    const late = theirs.spinLock(key, { backOff }).acquire({ wait: 1_000 });
    await expect(late).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    const asked = await log.commands(`"${lockAcquire.sha1}"`);
    expect(asked.length).toBeGreaterThan(1);
    expect(asked.length).toBeLessThanOrEqual(15);
  });

  it.each([null, 5, 'exponential', {}, { delays: 64 }])('rejects %p as a policy', (backOff) => {
    const { mine, key } = stage();
    const make = () => mine.spinLock(key, { backOff: backOff as never });
    expect(make).toThrow(LockOptionsError);
    expect(make).toThrow(expect.objectContaining({ option: 'backOff', value: backOff, key }));
  });
}

/** A policy that records its calls. */
class Counting implements BackOff {
  begun = 0;
  readonly delaysGiven: number[] = [];

  constructor(private readonly policy: BackOff) {}

  delays(): () => number {
    this.begun += 1;
    const next = this.policy.delays();
    return () => {
      const delay = next();
      this.delaysGiven.push(delay);
      return delay;
    };
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
