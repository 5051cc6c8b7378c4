import {
  type DynamicModule,
  Inject,
  Injectable,
  Module,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import { LOCK_CLIENTS, LOCK_TRACER, type LockClients, LockOptionsError } from '../index.js';
import { LockGauges, LockMetrics, MeasurementBuffer } from './lock-metrics.js';
import { AcquireSpans, HoldTracer } from './lock-spans.js';
import { LOCK_TELEMETRY_OPTIONS, type LockTelemetryOptions } from './telemetry-attributes.js';

type Options = Required<LockTelemetryOptions>;

/** By what options the clients of an app are observed: of several imports of the module, one does it. */
const observed = new WeakMap<LockClients, Options>();

/** Observes the clients of the app. */
@Injectable()
class LockTelemetry implements OnModuleInit, OnApplicationShutdown {
  readonly #measurements = new MeasurementBuffer();
  #gauges?: LockGauges;

  constructor(
    @Inject(LOCK_CLIENTS) private readonly registry: LockClients,
    @Inject(LOCK_TELEMETRY_OPTIONS) private readonly options: Options,
  ) {}

  /** A failure must leave no client open. */
  async onModuleInit(): Promise<void> {
    await this.registry.bootStep(() => this.#observe());
  }

  onApplicationShutdown(): void {
    this.#gauges?.stop();
    this.#measurements.end(); // the clients may still have locks to release
  }

  #observe(): void {
    const others = observed.get(this.registry);
    if (others !== undefined) return refuseUnlessEqual(this.options, others);
    observed.set(this.registry, this.options);
    const clients = this.registry.names.map((name) => this.registry.get(name));
    const spans = new AcquireSpans(this.options);
    const metrics = new LockMetrics(this.#measurements);
    for (const client of clients) {
      spans.follow(client);
      metrics.follow(client);
    }
    this.#gauges = new LockGauges(clients, this.#measurements);
  }
}

/** Spans of one app must not go by two rules, least of all where one of them shows keys. */
function refuseUnlessEqual(options: Options, others: Options): void {
  for (const name of ['keys', 'minWait'] as const) {
    if (options[name] === others[name]) continue;
    const expected = `${others[name]}, as the other import of LockTelemetryModule in this app does, or import it once, in the root module`;
    throw new LockOptionsError(name, options[name], expected);
  }
}

/**
 * Creates spans and metrics of all locks of the app, with the global providers of OpenTelemetry. Import it in the root
 * module, next to `LockModule`; without an SDK it does nothing.
 */
@Module({})
export class LockTelemetryModule {
  /**
   * Enables telemetry for all clients of the app. Boot fails with `LockOptionsError` if it is imported twice with different
   * options.
   *
   * @throws LockOptionsError
   * @example
   * ```ts
   * @Module({ imports: [LockModule.forRoot(), LockTelemetryModule.forRoot()] })
   * export class AppModule {}
   * ```
   */
  static forRoot(options: LockTelemetryOptions = {}): DynamicModule {
    const { keys = false, minWait = 1 } = options;
    if (!Number.isFinite(minWait) || minWait < 0)
      throw new LockOptionsError('minWait', minWait, 'milliseconds from 0 on');
    return {
      module: LockTelemetryModule,
      global: true,
      providers: [
        { provide: LOCK_TELEMETRY_OPTIONS, useValue: { keys, minWait } },
        { provide: LOCK_TRACER, useClass: HoldTracer },
        LockTelemetry,
      ],
      exports: [LOCK_TRACER],
    };
  }
}
