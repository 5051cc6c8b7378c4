import { describe, expect, it } from '@jest/globals';
import { systemClock } from '../../../lib/core/clock.js';
import { settleWithin } from '../../../lib/core/internal/timers.js';
import { Deferred } from '../../support/deferred.js';
import { VirtualClock } from '../../support/virtual-clock.js';

describe('The system clock', () => {
  it('never goes back, and fires a timer not before its time', async () => {
    const start = systemClock.now();
    await new Promise<void>((resolve) => systemClock.setTimer(resolve, 20));
    expect(systemClock.now() - start).toBeGreaterThanOrEqual(19);
  });

  it('fires no cancelled timer, and takes a cancel after the fact', async () => {
    let fired = 0;
    systemClock.setTimer(() => (fired += 1), 1).cancel();
    const late = await new Promise<{ cancel(): void }>((resolve) => {
      const timer = systemClock.setTimer(() => resolve(timer), 5);
    });
    late.cancel();
    expect(fired).toBe(0);
  });

  it('takes delays longer than setTimeout does, which would fire at once', async () => {
    let fired = false;
    const timer = systemClock.setTimer(() => (fired = true), 2 ** 40);
    await new Promise<void>((resolve) => systemClock.setTimer(resolve, 10));
    timer.cancel();
    expect(fired).toBe(false);
  });

  it('keeps the process alive by a timer, but not by a background timer', () => {
    const timers = () => process.getActiveResourcesInfo().filter((it) => it === 'Timeout').length;
    const before = timers();
    const [front, back] = [false, true].map((it) => systemClock.setTimer(() => {}, 10_000, it));
    expect(timers() - before).toBe(1);
    front!.cancel();
    back!.cancel();
    expect(timers()).toBe(before);
  });
});

describe('within', () => {
  it('settles as the work does, and leaves no timer', async () => {
    const clock = new VirtualClock();
    await settleWithin(100, clock, Promise.resolve('ignored'));
    const error = new Error('bad news');
    await expect(settleWithin(100, clock, Promise.reject(error))).rejects.toBe(error);
    expect([clock.isIdle, clock.now()]).toEqual([true, 0]);
  });

  it('resolves when the time is up', async () => {
    const clock = new VirtualClock();
    const work = new Deferred();
    await clock.runUntil(settleWithin(100, clock, work.promise));
    expect(clock.now()).toBe(100);
  });
});
