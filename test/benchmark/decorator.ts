import { Injectable, Logger, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { context, metrics, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';
import 'reflect-metadata';
import {
  getLockClientToken,
  type LockClient,
  LockModule,
  type Mutex,
  WithMutex,
} from '../../lib/index.js';
import { LockTelemetryModule } from '../../lib/opentelemetry/index.js';
import { alternately, mediansOf } from './measuring.js';
import { row, type Row } from './row.js';

/** The most that the decorator may add to a call, in µs. */
const TARGET = 3;
/** The most that the decorator may add where every call makes spans and metrics, in µs. */
const TRACED_TARGET = 10;
/** How many times the same calls of the SDK, made by hand, telemetry may cost. */
const BY_HAND_TARGET = 1.25;

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

/** A decorated call against the bare `mutex.using`, on the embedded backend; without and then with OpenTelemetry. */
export async function decorator(): Promise<Row[]> {
  Logger.overrideLogger(false);
  const plain = await measure(PlainModule);
  const stopOpenTelemetry = startOpenTelemetry();
  const traced = await measure(TracedModule, tracedByHand);
  await stopOpenTelemetry();

  const added = plain.decorated - plain.bare;
  const addedTraced = traced.decorated - traced.bare;
  const [telemetry, byHand] = [addedTraced - added, traced.byHand - traced.bare];
  return [
    row('decorated call, embedded backend', 'µs', plain.decorated, plain.bare),
    row('what the decorator adds', 'µs', added, null, TARGET),
    row('decorated call with an OpenTelemetry SDK', 'µs', traced.decorated, traced.bare),
    row('what the decorator and its telemetry add', 'µs', addedTraced, null, TRACED_TARGET),
    row(
      'telemetry; floor: the same calls of the SDK by hand',
      'µs',
      telemetry,
      byHand,
      BY_HAND_TARGET,
    ),
  ];
}

/** What calls take, in turns: decorated in an app of `module`; with the bare lock; and as `byHand` makes them of that. */
async function measure(module: Type, byHand?: (mutex: Mutex) => Call) {
  const [app, bare] = [await boot(module), await boot(PlainModule)];
  const work = app.get(Work);
  const mutex = bare.get<LockClient>(getLockClientToken()).mutex('bare'); // in no spans and metrics
  const calls: Record<string, Call> = {
    decorated: () => work.decorated(),
    bare: () => mutex.using(async () => {}),
    ...(byHand && { byHand: byHand(mutex) }),
  };
  const measured = await alternately(calls, timeOf, { rounds: 100, warmUp: 5 });
  await Promise.all([app.close(), bare.close()]);
  return { decorated: NaN, bare: NaN, byHand: NaN, ...mediansOf(measured, (time) => time) };
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

/** What a collector costs is not what we measure. */
const nowhere: SpanExporter = {
  export: (_spans, done) => done({ code: 0 }),
  shutdown: async () => {},
};

/** Registers the SDK as an app has it: all is recorded, and handed on in batches. The returned function ends it. */
export function startOpenTelemetry(): () => Promise<void> {
  const tracing = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(nowhere)] });
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const metering = new MeterProvider({
    readers: [new PeriodicExportingMetricReader({ exporter })],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(tracing);
  metrics.setGlobalMeterProvider(metering);
  return async () => {
    await Promise.all([tracing.shutdown(), metering.shutdown()]);
    for (const api of [context, trace, metrics]) api.disable();
  };
}
