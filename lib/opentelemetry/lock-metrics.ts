import { metrics } from '@opentelemetry/api';
import { isElection } from '../core/lock.js';
import { LockTimeoutError, type LockClient } from '../index.js';
import { attributesOf } from './attributes-of.js';
import { errorType } from './error-type.js';
import { SCOPE } from './lock-telemetry.constants.js';
import type { MeasurementBuffer } from './measurement-buffer.js';

/** From an uncontended lock beside the app to a queue that takes minutes, in seconds. */
const SECONDS = {
  unit: 's',
  advice: {
    explicitBucketBoundaries: [
      0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
    ],
  },
};

/** Histograms and counters of what locks do. */
export class LockMetrics {
  readonly #meter = metrics.getMeter(SCOPE);
  readonly #wait = this.#meter.createHistogram('nestjs_interlock.lock.wait', {
    ...SECONDS,
    description: 'Time that an acquire took, granted or not.',
  });
  readonly #hold = this.#meter.createHistogram('nestjs_interlock.lock.hold', {
    ...SECONDS,
    description: 'Time that a lock was held, until its release or its loss.',
  });
  readonly #contended = this.#meter.createCounter('nestjs_interlock.lock.contended', {
    unit: '{acquire}',
    description: 'Acquires that had to queue.',
  });
  readonly #timeouts = this.#meter.createCounter('nestjs_interlock.lock.timeouts', {
    unit: '{acquire}',
    description: 'Acquires that were not granted in time.',
  });
  readonly #lost = this.#meter.createCounter('nestjs_interlock.lock.lost', {
    unit: '{lock}',
    description: 'Locks that were lost while they were held.',
  });

  constructor(private readonly measurements: MeasurementBuffer) {}

  follow(client: LockClient): void {
    const { measurements } = this;
    const { name } = client;
    client.on('acquired', (event) => {
      if (isElection(event.recipe)) return; // who follows for a day has not waited for too long
      measurements.record(this.#wait, event.waitedMs / 1000, attributesOf(name, event));
    });
    client.on('failed', (event) => {
      if (isElection(event.recipe)) return;
      const attributes = attributesOf(name, event);
      if (event.error instanceof LockTimeoutError) this.#timeouts.add(1, attributes);
      measurements.record(this.#wait, event.waitedMs / 1000, {
        ...attributes,
        'error.type': errorType(event.error),
      });
    });
    client.on('contended', (event) => this.#contended.add(1, attributesOf(name, event)));
    client.on('released', (event) =>
      measurements.record(this.#hold, event.heldMs / 1000, attributesOf(name, event)),
    );
    client.on('lost', (event) => {
      const attributes = attributesOf(name, event);
      this.#lost.add(1, attributes);
      measurements.record(this.#hold, event.heldMs / 1000, {
        ...attributes,
        'error.type': errorType(event.error),
      });
    });
  }
}
