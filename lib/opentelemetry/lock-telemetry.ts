import { Inject, Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { LockClientRegistry } from '../index.js';
import { AcquireSpans } from './acquire-spans.js';
import { LockGauges } from './lock-gauges.js';
import { LockMetrics } from './lock-metrics.js';
import type { LockTelemetryOptions } from './lock-telemetry-options.js';
import { LOCK_TELEMETRY_OPTIONS } from './lock-telemetry.constants.js';
import { MeasurementBuffer } from './measurement-buffer.js';

/** Listens to the clients of the app. */
@Injectable()
export class LockTelemetry implements OnModuleInit, OnApplicationShutdown {
  readonly #measurements = new MeasurementBuffer();
  #gauges?: LockGauges;

  constructor(
    private readonly registry: LockClientRegistry,
    @Inject(LOCK_TELEMETRY_OPTIONS) private readonly options: Required<LockTelemetryOptions>,
  ) {}

  onModuleInit(): void {
    const clients = this.registry.names.map((name) => this.registry.get(name));
    const spans = new AcquireSpans(this.options);
    const metrics = new LockMetrics(this.#measurements);
    for (const client of clients) {
      spans.follow(client);
      metrics.follow(client);
    }
    this.#gauges = new LockGauges(clients, this.#measurements);
  }

  onApplicationShutdown(): void {
    this.#gauges?.stop();
    this.#measurements.end(); // the clients may have locks to give back yet
  }
}
