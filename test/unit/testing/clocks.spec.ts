import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { TestingClock } from '../../../lib/testing/testing-clock.js';
import { VirtualClock } from '../../support/time.js';

/** A clock of that kind, with timers that say when they fired. */
function recorded<C extends VirtualClock | TestingClock>(clock: C) {
  const fired: string[] = [];
  const timer = (name: string, ms: number) =>
    clock.setTimer(() => fired.push(`${name} at ${clock.now()}`), ms);
  return { clock, fired, timer };
}

describe.each([VirtualClock, TestingClock])('A %p', (Clock) => {
  let clock: VirtualClock | TestingClock;
  let fired: string[];
  let timer: ReturnType<typeof recorded>['timer'];

  beforeEach(() => {
    ({ clock, fired, timer } = recorded(new Clock()));
  });

  it('fires timers by time, and those of one time by age', async () => {
    timer('c', 20);
    timer('a', 10);
    timer('d', 20);
    timer('b', 10);
    await clock.advance(20);
    expect(fired).toEqual(['a at 10', 'b at 10', 'c at 20', 'd at 20']);
    expect(clock.now()).toBe(20);
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
    timer('c', 0).cancel();
    a.cancel();
    await clock.advance(10);
    a.cancel();
    expect(fired).toEqual(['b at 10']);
  });

  it('fires the timers that timers and promises set, at their time', async () => {
    clock.setTimer(() => void Promise.resolve().then(() => timer('nested', 5)), 10);
    timer('later', 20);
    await clock.advance(20);
    expect(fired).toEqual(['nested at 15', 'later at 20']);
  });
});

describe('A VirtualClock', () => {
  let { clock, fired, timer } = recorded(new VirtualClock());

  beforeEach(() => {
    ({ clock, fired, timer } = recorded(new VirtualClock()));
  });

  it('knows when nothing is left to fire', async () => {
    timer('a', 10);
    expect(clock.isIdle).toBe(false);
    await clock.advance(10);
    expect(clock.isIdle).toBe(true);
    timer('b', 5).cancel();
    expect(clock.isIdle).toBe(true);
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

describe('A TestingClock', () => {
  let { clock, fired, timer } = recorded(new TestingClock());

  beforeEach(() => {
    ({ clock, fired, timer } = recorded(new TestingClock()));
  });

  it('adds up calls that overlap', async () => {
    timer('a', 30);
    await Promise.all([clock.advance(10), clock.advance(20)]);
    expect([clock.now(), fired]).toEqual([30, ['a at 30']]);
  });

  it('fires what is due now by itself, one in each turn, and nothing in the call that set it', async () => {
    timer('a', 0);
    timer('b', -5);
    timer('later', 1);
    expect(fired).toEqual([]);
    await nextTurn();
    expect(fired).toEqual(['a at 0']);
    await nextTurn();
    await nextTurn();
    expect(fired).toEqual(['a at 0', 'b at 0']);
  });

  it('waits for what follows upon a timer in a later turn', async () => {
    clock.setTimer(() => void nextTurn().then(() => timer('nested', 5)), 10);
    timer('later', 20);
    await clock.advance(20);
    expect(fired).toEqual(['nested at 15', 'later at 20']);
  });

  it('says so when there is no end of what is due now, and goes on afterwards', async () => {
    const clock = new TestingClock(1_000);
    let isSpinning = true;
    const spin = () => void (isSpinning && clock.setTimer(spin, 0));
    spin();
    await expect(clock.advance(10)).rejects.toThrow('Virtual time cannot pass');
    expect(clock.now()).toBe(0);
    isSpinning = false;
    await clock.advance(10);
    expect(clock.now()).toBe(10);
  });

  it('runs a timer in the async context in which it was set, as Node does', async () => {
    const storage = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    storage.run('setter', () => clock.setTimer(() => seen.push(storage.getStore()), 10));
    await storage.run('test', () => clock.advance(10));
    expect(seen).toEqual(['setter']);
  });
});
