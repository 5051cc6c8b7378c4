import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';

/** What the machine's clocks say: whole milliseconds since 1970, and milliseconds since the start of the process. */
const machine = { time: 0, uptime: 0, interruption: { clock: 'time', ms: 0 } };

describe('The clock of spans', () => {
  let wallClock: () => number;

  beforeEach(async () => {
    machine.time = 1_700_000_000_000;
    machine.uptime = 5_000;
    jest.spyOn(Date, 'now').mockImplementation(() => Math.floor(read('time')));
    jest.spyOn(performance, 'now').mockImplementation(() => read('uptime'));
    jest.resetModules();
    ({ wallClock } = await import('../../../lib/opentelemetry/lock-spans.js'));
  });
  afterEach(() => void jest.restoreAllMocks());

  const pass = (ms: number) => {
    machine.time += ms;
    machine.uptime += ms;
  };

  /** What that clock says; then comes the interruption, once. */
  const read = (clock: 'time' | 'uptime') => {
    const told = machine[clock];
    const { interruption } = machine;
    if (interruption.clock === clock) pass(interruption.ms);
    if (interruption.clock === clock) machine.interruption = { clock, ms: 0 };
    return told;
  };

  it('has fractions of a millisecond', () => {
    const start = wallClock();
    pass(0.25);
    expect(wallClock() - start).toBeCloseTo(0.25, 3);
    pass(1_000.5);
    expect(wallClock() - start).toBeCloseTo(1_000.75, 3);
  });

  it('is not behind the whole milliseconds in which other instrumentation reports its starts', () => {
    pass(0.9);
    for (let i = 0; i < 50; i++) {
      expect(wallClock()).toBeGreaterThanOrEqual(Date.now());
      pass(0.3);
    }
  });

  it.each(['time', 'uptime'] as const)(
    'does not run backwards when the process is interrupted behind a reading of its %s',
    (clock) => {
      pass(0.5);
      machine.interruption = { clock, ms: 0.9 };
      let latest = wallClock();
      for (let i = 0; i < 50; i++) {
        pass(0.1);
        const now = wallClock();
        expect(now).toBeGreaterThanOrEqual(latest);
        expect(Math.abs(now - machine.time)).toBeLessThan(1);
        latest = now;
      }
    },
  );

  it.each([3_600_000, -3_600_000])(
    'follows the clock of the machine when it is set by %d ms',
    (ms) => {
      wallClock();
      machine.time += ms;
      pass(10);
      expect(Math.abs(wallClock() - machine.time)).toBeLessThan(1);
    },
  );
});
