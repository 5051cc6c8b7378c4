import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { context, type Context, createContextKey, type Histogram } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { MeasurementBuffer } from '../../../lib/opentelemetry/lock-metrics.js';
import type * as spans from '../../../lib/opentelemetry/lock-spans.js';
import { evaluateAgain } from '../../support/copies.js';

type Recorded = Parameters<Histogram['record']>;

const ATTRIBUTES = { 'nestjs_interlock.recipe': 'mutex' };
const USER = createContextKey('user');

describe('The buffer of measurements', () => {
  let recorded: Recorded[];
  const histogram: Histogram = { record: (...measurement) => void recorded.push(measurement) };
  const values = () => recorded.map(([value]) => value);

  beforeEach(() => {
    recorded = [];
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  });
  afterEach(() => context.disable());

  it('keeps them until they are asked for, and hands each on once, in order', () => {
    const buffer = new MeasurementBuffer(10);
    for (const value of [3, 1, 2]) buffer.record(histogram, value, ATTRIBUTES);
    expect(recorded).toEqual([]);
    buffer.flush();
    buffer.flush();
    expect(values()).toEqual([3, 1, 2]);
    expect(recorded[0]![1]).toEqual(ATTRIBUTES);
  });

  it('hands them on by itself when it is full', () => {
    const buffer = new MeasurementBuffer(3);
    for (let value = 1; value <= 7; value++) buffer.record(histogram, value, ATTRIBUTES);
    expect(values()).toEqual([1, 2, 3, 4, 5, 6]);
    buffer.flush();
    expect(values()).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it('hands each on in the context in which it was made', () => {
    const buffer = new MeasurementBuffer(10);
    const inContext = (active: Context, value: number) =>
      context.with(active, () => buffer.record(histogram, value, ATTRIBUTES));
    inContext(context.active().setValue(USER, 'ann'), 1);
    inContext(context.active().setValue(USER, 'bob'), 2);
    context.with(context.active().setValue(USER, 'collector'), () => buffer.flush());
    expect(recorded.map(([, , made]) => made?.getValue(USER))).toEqual(['ann', 'bob']);
  });

  it('warns of one that is refused, and hands on the others', () => {
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const refusing: Histogram = {
      record: () => {
        throw new Error('no tenant in the baggage'); // as an attributes processor of a view may
      },
    };
    const buffer = new MeasurementBuffer(10);
    for (const into of [histogram, refusing, histogram]) buffer.record(into, 1, ATTRIBUTES);
    buffer.flush();
    expect(values()).toEqual([1, 1]);
    expect(warned.mock.calls.map(([warning]) => String(warning))).toEqual([
      expect.stringContaining('no tenant in the baggage'),
    ]);
    warned.mockRestore();
  });

  it('keeps none any more after its end', () => {
    const buffer = new MeasurementBuffer(10);
    buffer.record(histogram, 1, ATTRIBUTES);
    buffer.end();
    expect(values()).toEqual([1]);
    buffer.record(histogram, 2, ATTRIBUTES);
    expect(values()).toEqual([1, 2]);
  });
});

/** What the machine's clocks say: whole milliseconds since 1970, and milliseconds since the start of the process. */
const machine = { time: 0, uptime: 0, interruption: { clock: 'time', ms: 0 } };

describe('The clock of spans', () => {
  let wallClock: () => number;

  beforeEach(async () => {
    machine.time = 1_700_000_000_000;
    machine.uptime = 5_000;
    jest.spyOn(Date, 'now').mockImplementation(() => Math.floor(read('time')));
    jest.spyOn(performance, 'now').mockImplementation(() => read('uptime'));
    ({ wallClock } = await evaluateAgain<typeof spans>('opentelemetry/lock-spans'));
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
