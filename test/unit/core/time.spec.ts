import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type Clock, SystemClock, systemClock, type Timer } from '../../../lib/core/clock.js';
import { TimerWheelClock } from '../../../lib/core/timer-wheel-clock.js';
import { settleWithin } from '../../../lib/core/internal/timers.js';
import { Deferred, VirtualClock } from '../../support/time.js';
import { busiestTurn } from '../../support/turns.js';

describe('The system clock', () => {
  it('goes on while a test runner has replaced the timers', async () => {
    jest.useFakeTimers();
    const start = systemClock.now();
    const fired = new Promise<void>((resolve) => systemClock.setTimer(resolve, 20));
    jest.useRealTimers();
    await fired;
    expect(systemClock.now() - start).toBeGreaterThanOrEqual(20);
  });

  it.each([
    ['itself', systemClock],
    ['below a timer wheel', new TimerWheelClock(systemClock)],
  ])('fires no timer before its time (%s)', async (_, clock) => {
    const early: number[] = [];
    const setMany = async () => {
      for (let ms = 0; ms < 500; ms += 7.3) {
        const at = clock.now() + ms;
        clock.setTimer(() => void (clock.now() < at && early.push(at - clock.now())), ms);
        await new Promise<void>((resolve) => setImmediate(resolve));
      }
    };
    for (let round = 0; round < 20; round++) await setMany();
    await new Promise<void>((resolve) => clock.setTimer(resolve, 510));
    expect(early).toEqual([]);
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

/** A machine whose uptime is known in whole units of `unit` ms. */
class Machine {
  unit = 10;
  #uptime = 5_000_123;
  #awake = 5_000_123;
  #wall = 1_700_000_000_000;

  readonly monotonic = () => this.#awake;
  readonly wall = () => this.#wall;
  uptime = () => Math.floor(this.#uptime / this.unit) * this.unit;

  run(ms: number): void {
    this.#awake += ms;
    this.sleep(ms);
  }

  sleep(ms: number): void {
    this.#uptime += ms;
    this.setWall(ms);
  }

  setWall(ms: number): void {
    this.#wall += ms;
  }
}

describe('The clock of a machine', () => {
  let machine: Machine;
  let clock: SystemClock;
  /** What the clock says has passed. */
  let passed: () => number;
  beforeEach(() => {
    machine = new Machine();
    clock = new SystemClock(machine);
    const start = clock.now();
    passed = () => clock.now() - start;
  });

  it.each([10, 1_000])(
    'counts the sleep once it is noticed, every time, with an uptime in steps of %d ms',
    (unit) => {
      machine.unit = unit;
      for (const slept of [40_000, 3_600_000]) {
        const before = passed();
        machine.sleep(slept);
        machine.run(70);
        expect(passed()).toBe(before + 70);
        clock.noticeSleep();
        expect(passed() - before).toBeGreaterThanOrEqual(slept + 70);
        expect(passed() - before).toBeLessThanOrEqual(slept + 70 + unit);
        expect(clock.noticeSleep()).toBe(clock.noticeSleep());
      }
    },
  );

  it('takes no notice of a wall clock that is set, or drifts', () => {
    for (const ms of [60_000, -90_000, 86_400_000, 900]) {
      machine.setWall(ms);
      machine.run(10);
      clock.noticeSleep();
    }
    for (let drift = 0; drift < 10_000; drift++) {
      machine.setWall(1);
      machine.run(1);
      clock.noticeSleep();
    }
    expect([passed(), clock.noticeSleep()]).toEqual([10_040, 0]);
    machine.sleep(40_000);
    expect(clock.noticeSleep()).toBeGreaterThanOrEqual(40_000);
    expect(clock.noticeSleep()).toBeLessThan(41_000); // the drift since the last jump counts too
  });

  it.each([60_000, -60_000])(
    'counts each sleep once where the wall clock is set by %d ms during one',
    (ms) => {
      machine.unit = 1_000;
      for (let slept = 5_000, sum = 0; sum < 60_000; slept = 18_000) {
        machine.sleep(slept);
        if (sum === 0) machine.setWall(ms);
        sum += slept;
        expect(Math.abs(clock.noticeSleep() - sum)).toBeLessThanOrEqual(2_000);
      }
    },
  );

  it('counts no sleep where the uptime is not known', () => {
    machine.uptime = () => NaN;
    clock = new SystemClock(machine);
    machine.sleep(40_000);
    expect(clock.noticeSleep()).toBe(0);
  });

  it('is that of this machine, which does not sleep while it is tested', () => {
    expect(new SystemClock().noticeSleep()).toBe(0);
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

describe('A lazy clock', () => {
  let behind: VirtualClock;
  let clock: TimerWheelClock;
  let fired: string[];

  beforeEach(() => {
    behind = new VirtualClock();
    clock = new TimerWheelClock(behind);
    fired = [];
  });

  const set = (name: string, ms: number) =>
    clock.setTimer(() => fired.push(`${name} ${clock.now()}`), ms);

  it.each([0, 1, 200, 399, 400, 401, 599, 600, 601, 1_000, 30_000])(
    'fires after %d ms, whatever the time since its last tick',
    async (ms) => {
      for (let since = 0; since <= 600; since += 75) {
        behind = new VirtualClock();
        clock = new TimerWheelClock(behind);
        set('earlier', 50_000);
        await behind.advance(since);
        fired = [];
        set('timer', ms);
        await behind.advance(ms - 1);
        expect(fired).toEqual([]);
        await behind.advance(1);
        expect(fired).toEqual([`timer ${since + ms}`]);
      }
    },
  );

  it('fires in the order of the times', async () => {
    for (const ms of [900, 300, 600, 1_200]) set('timer', ms);
    await behind.advance(1_200);
    expect(fired).toEqual(['timer 300', 'timer 600', 'timer 900', 'timer 1200']);
  });

  it.each([0, 100, 200, 300, 400, 500, 900])(
    'fires none that is cancelled after %d ms',
    async (ms) => {
      const timer = set('timer', 1_000);
      await behind.advance(ms);
      timer.cancel();
      timer.cancel();
      await behind.advance(2_000);
      expect(fired).toEqual([]);
    },
  );

  it('fires none that another one cancels in the tick that is due for both', async () => {
    const timers = ['one', 'other'].map((name, i, names) =>
      clock.setTimer(() => {
        fired.push(name);
        timers[(i + 1) % names.length]!.cancel();
      }, 1_000),
    );
    behind.stall(5_000);
    await behind.advance(0);
    expect(fired).toEqual(['one']);
  });

  it('fires in the first turn after the event loop was blocked, also what was set just before', async () => {
    set('old', 1_000);
    await behind.advance(199);
    set('young', 500);
    behind.stall(10_000);
    await behind.advance(0);
    expect(fired).toEqual(['old 10199', 'young 10199']);
  });

  it('fires few in a turn of the event loop of 50,000 that are due at once', async () => {
    const count = 50_000;
    let due = 0;
    const timers = Array.from({ length: count }, (_, i) =>
      clock.setTimer(() => {
        due += 1;
        if (i === 10) timers[count - 1]!.cancel(); // which is due, and has not fired
      }, 1_000),
    );
    const all = () => behind.runUntil(() => due === count - 1);
    expect(await busiestTurn(() => due, all)).toBeLessThanOrEqual(400);
    set('timer', 1_000);
    await behind.runUntil(() => fired.length > 0);
  });

  it('fires in time after a tick that came late', async () => {
    set('timer', 500);
    behind.stall(350);
    await behind.advance(0);
    await behind.advance(149);
    expect(fired).toEqual([]);
    await behind.advance(1);
    expect(fired).toEqual(['timer 500']);
  });

  it('takes a cancel from within, and a timer that is set by another', async () => {
    clock.setTimer(() => set('second', 700), 700);
    await behind.advance(1_400);
    expect(fired).toEqual(['second 1400']);
  });

  it('leaves nothing behind once the last is cancelled', async () => {
    for (let i = 0; i < 3; i++) set('timer', 1_000).cancel();
    await behind.advance(400);
    expect(behind.isIdle).toBe(true);
  });

  it.each([0, 75, 150, 199])(
    'has a timer set on the clock behind from 200 to 400 ms on, %d ms after its last tick',
    async (since) => {
      let passedOn = 0;
      const setTimer: Clock['setTimer'] = (fn, timeout, background) => {
        if (background !== true) passedOn += 1;
        return behind.setTimer(fn, timeout);
      };
      clock = new TimerWheelClock({ now: () => behind.now(), setTimer });
      clock.setTimer(() => {}, 50_000, true);
      await behind.advance(since);
      set('timer', 30_000);
      await behind.advance(199);
      expect(passedOn).toBe(0);
      await behind.advance(201);
      expect(passedOn).toBe(1);
    },
  );

  it('leaves nothing behind of one that another has cancelled in a tick that came late', async () => {
    const timers: Timer[] = [clock.setTimer(() => timers[1]!.cancel(), 500), set('later', 30_000)];
    behind.stall(1_000);
    await behind.advance(400);
    expect([fired, behind.isIdle]).toEqual([[], true]);
  });

  it('sets one timer of the clock behind for all that are cancelled soon', () => {
    let set = 0;
    const setTimer = () => (set++, { cancel() {} });
    clock = new TimerWheelClock({ now: () => systemClock.now(), setTimer });
    for (let i = 0; i < 1_000; i++) clock.setTimer(() => {}, 10_000).cancel();
    expect(set).toBe(1);
  });
});
