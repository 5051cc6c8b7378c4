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
