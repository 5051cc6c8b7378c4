import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { Clock } from '../../../lib/core/clock.js';
import { OrderedSet } from '../../../lib/core/collections/ordered-set.js';
import { LockLostError } from '../../../lib/core/errors/index.js';
import { ClientLifecycle } from '../../../lib/core/internal/client-lifecycle.js';
import { EventLoopStalls } from '../../../lib/core/internal/event-loop-stalls.js';
import { type ClientHold, Hold } from '../../../lib/core/internal/hold.js';
import { LockEventEmitter } from '../../../lib/core/internal/lock-event-emitter.js';
import type { WaitScope } from '../../../lib/core/internal/wait-scope.js';
import { granted } from './fakes.js';

/** A clock whose event loop runs timers in steps of 10 ms, or stands still. */
class LoopClock implements Clock {
  #now = 0;
  #asleep = 0;
  #unnoticed = 0;
  #timers: { at: number; readonly fn: () => void }[] = [];

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

  /** The machine sleeps; no timer was due meanwhile. */
  sleep(ms: number): void {
    this.#unnoticed += ms;
  }

  noticeSleep(): number {
    this.#now += this.#unnoticed;
    this.#asleep += this.#unnoticed;
    for (const timer of this.#timers) timer.at += this.#unnoticed;
    this.#unnoticed = 0;
    return this.#asleep;
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
    expect(stalls.longestWithin(Infinity)).toEqual({ ...found, agoMs: 1_000 });
    clock.run(3_000);
    expect(stalls.longestWithin(Infinity)).toEqual({ ...found, agoMs: 4_000 });
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

  it('may be the sleep of the machine, which is noticed within a quarter of a second, once', () => {
    const { clock, stalls } = watched();
    let noticed = 0;
    const stop = stalls.onSleep(() => (noticed += 1));
    clock.run(1_000);
    clock.sleep(40_000);
    clock.run(260);
    expect(noticed).toBe(1);
    const found = stalls.longestWithin(Infinity)!;
    expect(found.asleepMs).toBe(40_000);
    expect(found.ms).toBeGreaterThanOrEqual(40_000);
    expect(found.ms).toBeLessThan(40_300);
    clock.run(2_000);
    clock.standStill(5_000);
    clock.turn();
    expect([noticed, stalls.longestWithin(6_000)!.asleepMs]).toEqual([1, 0]);
    stop();
    clock.sleep(3_000);
    clock.run(1_000);
    expect(noticed).toBe(1);
  });

  it('is in the message of the loss', () => {
    const { message } = new LockLostError(
      'its lease is over',
      { key: 'k' },
      { stall: { ms: 40_020, agoMs: 60, asleepMs: 0 }, confirmedAgoMs: 43_000 },
    );
    expect(message).toContain(
      'its lease is over (the event loop of this process was blocked for 40.0 s, until 0.1 s before; the servers confirmed it last 43.0 s before). Stop',
    );
    const slept = new LockLostError(
      'its lease is over',
      { key: 'k' },
      { stall: { ms: 40_020, agoMs: 60, asleepMs: 40_000 } },
    );
    expect(slept.message).toContain('(this machine slept for 40.0 s, until 0.1 s before). Stop');
  });
});

describe('A client on a machine that slept', () => {
  it('has lost the locks whose leases ended meanwhile, before anything asks, and looks after the others', async () => {
    const { clock, stalls } = watched();
    const holds = new OrderedSet<ClientHold>();
    const client = { clock, events: new LockEventEmitter(), holds };
    const ends = [30_000, 90_000];
    const made = ends.map((end) => {
      const { identity, ledger } = granted(`${end}`);
      ledger.isExclusive = () => clock.now() < end;
      return new Hold(identity, { key: `${end}` }, ledger, undefined, client);
    });
    const lost: string[] = [];
    for (const hold of made) hold.onLost(({ key }) => lost.push(key!));
    let awoke = 0;
    const context = {
      ...{ client: 'unit', clock, accepts: 'all' as const, holds },
      ...{ waits: new OrderedSet<WaitScope>(), candidates: new OrderedSet<never>() },
    };
    const backend = { drained: async () => {}, disconnect() {}, awoke: () => (awoke += 1) };
    const lifecycle = new ClientLifecycle(context, backend, stalls);
    clock.run(1_000);
    clock.sleep(60_000);
    clock.run(300);
    expect(lost).toEqual(['30000']);
    await nextTurn();
    expect(awoke).toBe(1);
    await lifecycle.close(1_000, 'release');
    clock.sleep(60_000);
    clock.run(300);
    await nextTurn();
    expect(awoke).toBe(1);
  });
});
