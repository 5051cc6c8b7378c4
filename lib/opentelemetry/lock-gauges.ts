import { metrics, type BatchObservableCallback } from '@opentelemetry/api';
import type { LockClient } from '../index.js';
import { SCOPE } from './lock-telemetry.constants.js';

/** What clients hold and wait for, looked at whenever metrics are collected. */
export class LockGauges {
  readonly #meter = metrics.getMeter(SCOPE);
  readonly #held = this.#meter.createObservableUpDownCounter('nestjs_interlock.lock.held', {
    unit: '{lock}',
    description: 'Locks held now.',
  });
  readonly #waiting = this.#meter.createObservableUpDownCounter('nestjs_interlock.lock.waiting', {
    unit: '{acquire}',
    description: 'Acquires under way now.',
  });
  readonly #oldest = this.#meter.createObservableGauge('nestjs_interlock.lock.oldest_hold', {
    unit: 's',
    description: 'How long the lock is held that is held the longest now.',
  });
  readonly #observe: BatchObservableCallback;

  constructor(clients: readonly LockClient[]) {
    this.#observe = (result) => {
      for (const client of clients) {
        const attributes = { 'nestjs_interlock.client': client.name };
        const { held, waiting } = client.status();
        const ages = client.activity().map(({ state, forMs }) => (state === 'held' ? forMs : 0));
        result.observe(this.#held, held, attributes);
        result.observe(this.#waiting, waiting, attributes);
        result.observe(this.#oldest, ages.reduce((a, b) => Math.max(a, b), 0) / 1000, attributes);
      }
    };
    this.#meter.addBatchObservableCallback(this.#observe, this.#observed);
  }

  /** Forgets the clients. */
  stop(): void {
    this.#meter.removeBatchObservableCallback(this.#observe, this.#observed);
  }

  get #observed() {
    return [this.#held, this.#waiting, this.#oldest];
  }
}
