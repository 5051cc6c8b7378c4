import { context, metrics, trace, type Attributes, type Span } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
  type DataPoint,
  type Histogram,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base';

/** The SDK of OpenTelemetry as the global providers, keeping in memory what an app reports. */
export class Telemetry {
  readonly #spans = new InMemorySpanExporter();
  readonly #metrics = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  readonly #tracing = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(this.#spans)],
  });
  readonly #metering = new MeterProvider({
    readers: [
      new PeriodicExportingMetricReader({
        exporter: this.#metrics,
        exportIntervalMillis: 3_600_000, // it is asked
      }),
    ],
  });

  constructor() {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    trace.setGlobalTracerProvider(this.#tracing);
    metrics.setGlobalMeterProvider(this.#metering);
  }

  /** Everything that has ended. */
  get spans(): ReadableSpan[] {
    return this.#spans.getFinishedSpans();
  }

  /** The only span of that name. */
  span(name: string): ReadableSpan {
    const [span, ...others] = this.spans.filter((each) => each.name === name);
    if (span === undefined || others.length > 0)
      throw new Error(`${others.length + Number(span !== undefined)} spans are called ${name}.`);
    return span;
  }

  /** Runs `fn` in a span of the user's. */
  inSpan<T>(name: string, fn: (span: Span) => Promise<T>): Promise<T> {
    return trace.getTracer('test').startActiveSpan(name, async (span) => {
      try {
        return await fn(span);
      } finally {
        span.end();
      }
    });
  }

  /** What a metric counts now, by its attributes. Of a histogram: the number of values. */
  async series(name: string): Promise<{ attributes: Attributes; value: number }[]> {
    this.#metrics.reset();
    await this.#metering.forceFlush();
    const found = this.#metrics
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics)
      .flatMap((scope) => scope.metrics)
      .filter(({ descriptor }) => descriptor.name === name);
    const points = found.flatMap((metric) => metric.dataPoints as DataPoint<number | Histogram>[]);
    return points.map(({ attributes, value }) => ({
      attributes,
      value: typeof value === 'number' ? value : value.count,
    }));
  }

  async stop(): Promise<void> {
    await Promise.all([this.#tracing.shutdown(), this.#metering.shutdown()]);
    for (const api of [context, trace, metrics]) api.disable();
  }
}
