import { beforeEach, describe, expect, it } from '@jest/globals';
import { VirtualClock } from '../../support/virtual-clock.js';

describe('VirtualClock', () => {
  let clock: VirtualClock;
  let fired: string[];
  const timer = (name: string, ms: number) =>
    clock.setTimer(() => fired.push(`${name} at ${clock.now()}`), ms);

  beforeEach(() => {
    clock = new VirtualClock();
    fired = [];
  });

  it('fires timers by time, and those of one time by age', async () => {
    timer('c', 20);
    timer('a', 10);
    timer('d', 20);
    timer('b', 10);
    await clock.advance(20);
    expect(fired).toEqual(['a at 10', 'b at 10', 'c at 20', 'd at 20']);
    expect(clock.now()).toBe(20);
    expect(clock.isIdle).toBe(true);
  });

  it('goes exactly as far as it is advanced', async () => {
    timer('a', 10);
    await clock.advance(9.5);
    expect([clock.now(), fired]).toEqual([9.5, []]);
    await clock.advance(0.5);
    expect(fired).toEqual(['a at 10']);
  });

  it('does not fire what was cancelled', async () => {
    const a = timer('a', 10);
    timer('b', 10);
    a.cancel();
    await clock.advance(10);
    a.cancel();
    expect(fired).toEqual(['b at 10']);
    timer('c', 5).cancel();
    expect(clock.isIdle).toBe(true);
  });

  it('fires the timers that timers and promises set, at their time', async () => {
    clock.setTimer(() => {
      void Promise.resolve()
        .then(() => {})
        .then(() => timer('nested', 5));
    }, 10);
    timer('later', 20);
    await clock.advance(20);
    expect(fired).toEqual(['nested at 15', 'later at 20']);
  });

  it('runs until a promise settles, and settles like it', async () => {
    const value = new Promise((resolve) => clock.setTimer(() => resolve('done'), 1_000));
    timer('never needed', 2_000);
    await expect(clock.runUntil(value)).resolves.toBe('done');
    expect([clock.now(), fired]).toEqual([1_000, []]);
    const error = new Promise((_, reject) => clock.setTimer(() => reject(new Error('no')), 10));
    await expect(clock.runUntil(error)).rejects.toThrow('no');
  });

  it('runs until a condition is true', async () => {
    timer('a', 10);
    timer('b', 20);
    await clock.runUntil(() => fired.length === 1);
    expect(clock.now()).toBe(10);
  });

  it('notices that nothing can end the wait any more', async () => {
    timer('a', 10);
    await expect(clock.runUntil(new Promise(() => {}))).rejects.toThrow('Deadlock at 10 ms');
  });

  it('does not wait longer than it may', async () => {
    const tick = () => clock.setTimer(tick, 10);
    tick();
    await expect(clock.runUntil(new Promise(() => {}), 105)).rejects.toThrow('Not over within 105');
    expect(clock.now()).toBe(100);
  });

  it('fires late, not never, after a stall', async () => {
    timer('b', 20);
    timer('a', 10);
    clock.stall(50);
    expect(fired).toEqual([]);
    await clock.advance(0);
    expect(fired).toEqual(['a at 50', 'b at 50']);
  });
});
