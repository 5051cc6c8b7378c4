import 'reflect-metadata';
import { Injectable, Logger, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { context, metrics, trace } from '@opentelemetry/api';
import {
  getLockClientToken,
  LockModule,
  WithMutex,
  type LockClient,
  type Mutex,
} from '../../lib/index.js';
import { LockTelemetryModule } from '../../lib/opentelemetry/index.js';
import { alternately } from './alternately.js';
import { mediansOf } from './medians-of.js';
import { row, type Row } from './row.js';
import { startOpenTelemetry } from './start-open-telemetry.js';

/** The most that the decorator may add to a call, in µs. */
const TARGET = 3;
/** The most that the decorator may add where every call makes spans and metrics, in µs. */
const TRACED_TARGET = 10;

/** Of a round. */
const CALLS = 2_000;

type Call = () => Promise<void>;

@Injectable()
class Work {
  @WithMutex('decorated')
  async decorated(): Promise<void> {}
}

@Module({ imports: [LockModule.forRoot()], providers: [Work] })
class PlainModule {}

@Module({ imports: [LockModule.forRoot(), LockTelemetryModule.forRoot()], providers: [Work] })
class TracedModule {}

/** A decorated call against the bare `mutex.using`, on the embedded backend; without and with OpenTelemetry. */
export async function decorator(): Promise<Row[]> {
  Logger.overrideLogger(false);
  const stopOpenTelemetry = startOpenTelemetry();
  const [plain, traced] = [await boot(PlainModule), await boot(TracedModule)];
  const [ours, withSpans] = [plain.get(Work), traced.get(Work)];
  const mutex = plain.get<LockClient>(getLockClientToken()).mutex('bare');
  const calls: Record<string, Call> = {
    decorated: () => ours.decorated(),
    traced: () => withSpans.decorated(),
    byHand: tracedByHand(mutex),
    bare: () => mutex.using(async () => {}),
  };
  const measured = await alternately(calls, timeOf, { rounds: 100, warmUp: 5 });
  await Promise.all([plain.close(), traced.close()]);
  await stopOpenTelemetry();

  const {
    decorated: off = NaN,
    traced: on = NaN,
    byHand = NaN,
    bare: floor = NaN,
  } = mediansOf(measured, (time) => time);
  return [
    row('decorated call, embedded backend', 'µs', off, floor),
    row('what the decorator adds', 'µs', off - floor, null, TARGET),
    row('decorated call with an OpenTelemetry SDK', 'µs', on, floor),
    row('what the decorator and its telemetry add', 'µs', on - floor, null, TRACED_TARGET),
    row('what the same calls of the SDK add by hand', 'µs', byHand - floor, null),
  ];
}

/** The least that a span and two measurements a call can cost here. */
function tracedByHand(mutex: Mutex): Call {
  const tracer = trace.getTracer('by hand');
  const meter = metrics.getMeter('by hand');
  const [wait, hold] = [meter.createHistogram('wait'), meter.createHistogram('hold')];
  const attributes = { client: 'default', method: 'Work.decorated', recipe: 'mutex' };
  return async () => {
    const start = performance.now();
    await mutex.using(async () => {
      wait.record(performance.now() - start, attributes);
      const span = tracer.startSpan('hold', { attributes });
      await context.with(trace.setSpan(context.active(), span), async () => {});
      span.end();
    });
    hold.record(performance.now() - start, attributes);
  };
}

function boot(module: Type) {
  return NestFactory.createApplicationContext(module);
}

/**
 * CPU time of a call in µs, over many: a single one is shorter than what its clock costs. There is nothing to wait for, so
 * this is all the time it takes, and what else the machine does is not counted.
 */
async function timeOf(call: Call): Promise<number> {
  const start = process.cpuUsage();
  for (let i = 0; i < CALLS; i++) await call();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / CALLS;
}
