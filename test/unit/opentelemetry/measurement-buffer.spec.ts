import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { context, createContextKey, type Context, type Histogram } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { MeasurementBuffer } from '../../../lib/opentelemetry/lock-metrics.js';

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
