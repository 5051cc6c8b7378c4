import { describe, expect, it } from '@jest/globals';
import type { Clock } from '../../../lib/core/clock.js';
import { LockLostError } from '../../../lib/core/errors/index.js';
import { EventLoopStalls } from '../../../lib/core/internal/event-loop-stalls.js';

/** A clock whose event loop runs timers in steps of 10 ms, or stands still. */
class LoopClock implements Clock {
  #now = 0;
  #timers: { readonly at: number; readonly fn: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  setTimer(fn: () => void, ms: number) {
    const timer = { at: this.#now + ms, fn };
    this.#timers.push(timer);
    return { cancel: () => void (this.#timers = this.#timers.filter((it) => it !== timer)) };
  }

  get timers(): number {
    return this.#timers.length;
  }

  standStill(ms: number): void {
    this.#now += ms;
  }

  run(ms: number): void {
    for (const end = this.#now + ms; this.#now < end; this.#now += 10) this.turn();
  }

  /** One turn of the event loop. */
  turn(): void {
    const due = this.#timers.filter(({ at }) => at <= this.#now);
    this.#timers = this.#timers.filter((timer) => !due.includes(timer));
    for (const { fn } of due) fn();
  }
}

function watched() {
  const clock = new LoopClock();
  const stalls = new EventLoopStalls(clock);
  stalls.begin();
  return { clock, stalls };
}

describe('A stall of the event loop', () => {
  it('is found by what runs first after it, a timer or a check, and once', () => {
    const { clock, stalls } = watched();
    clock.run(1_000);
    clock.standStill(40_000);
    const found = stalls.longestWithin(Infinity)!;
    expect(found.ms).toBeGreaterThan(39_000);
    expect(found.ms).toBeLessThanOrEqual(40_000);
    expect(found.agoMs).toBe(0);
    clock.standStill(1_000); // no timer has run yet
    expect(stalls.longestWithin(Infinity)).toEqual({ ms: found.ms, agoMs: 1_000 });
    clock.run(3_000);
    expect(stalls.longestWithin(Infinity)).toEqual({ ms: found.ms, agoMs: 4_000 });
  });

  it('counts from the grant on, and the longest one is reported', () => {
    const { clock, stalls } = watched();
    for (const ms of [5_000, 9_000, 3_000]) {
      clock.run(500);
      clock.standStill(ms);
    }
    clock.run(500);
    expect(stalls.longestWithin(Infinity)!.ms).toBeGreaterThan(8_700);
    expect(stalls.longestWithin(3_700)).toMatchObject({ agoMs: 500 });
    expect(stalls.longestWithin(2_400)).toBeUndefined(); // two of its seconds
    expect(stalls.longestWithin(400)).toBeUndefined();
  });

  it('is none while the event loop runs, however busy it is', () => {
    const { clock, stalls } = watched();
    for (let i = 0; i < 50; i++) {
      clock.standStill(1_900);
      clock.turn();
    }
    expect(stalls.longestWithin(Infinity)).toBeUndefined();
  });

  it('is looked for while a lock is held, and not after that', () => {
    const { clock, stalls } = watched();
    stalls.begin();
    stalls.end();
    clock.run(1_000);
    expect(clock.timers).toBe(1);
    stalls.end();
    clock.run(1_000);
    expect(clock.timers).toBe(0);
    clock.standStill(60_000);
    expect(stalls.longestWithin(Infinity)).toBeUndefined();
    stalls.begin();
    clock.run(500);
    clock.standStill(5_000);
    expect(stalls.longestWithin(Infinity)!.ms).toBeGreaterThan(4_700);
  });

  it('is in the message of the loss', () => {
    const { message } = new LockLostError(
      'its lease is over',
      { key: 'k' },
      { stall: { ms: 40_020, agoMs: 60 }, confirmedAgoMs: 43_000 },
    );
    expect(message).toContain(
      'its lease is over (the event loop of this process was blocked for 40.0 s, until 0.1 s before; the servers confirmed it last 43.0 s before). Stop',
    );
  });
});
