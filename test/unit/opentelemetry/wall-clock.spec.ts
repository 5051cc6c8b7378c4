import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';

/** What the machine's clocks say: whole milliseconds since 1970, and milliseconds since the start of the process. */
const machine = { time: 0, uptime: 0 };

describe('The clock of spans', () => {
  let wallClock: () => number;

  beforeEach(async () => {
    machine.time = 1_700_000_000_000;
    machine.uptime = 5_000;
    jest.spyOn(Date, 'now').mockImplementation(() => Math.floor(machine.time));
    jest.spyOn(performance, 'now').mockImplementation(() => machine.uptime);
    jest.resetModules();
    ({ wallClock } = await import('../../../lib/opentelemetry/wall-clock.js'));
  });
  afterEach(() => void jest.restoreAllMocks());

  const pass = (ms: number) => {
    machine.time += ms;
    machine.uptime += ms;
  };

  it('has fractions of a millisecond', () => {
    const start = wallClock();
    pass(0.25);
    expect(wallClock() - start).toBeCloseTo(0.25, 3);
    pass(1_000.5);
    expect(wallClock() - start).toBeCloseTo(1_000.75, 3);
  });

  it('is not behind the whole milliseconds in which others tell their starts', () => {
    pass(0.9);
    for (let i = 0; i < 50; i++) {
      expect(wallClock()).toBeGreaterThanOrEqual(Date.now());
      pass(0.3);
    }
  });

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
