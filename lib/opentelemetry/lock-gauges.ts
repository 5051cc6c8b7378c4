import { metrics, type BatchObservableCallback } from '@opentelemetry/api';
import { isElection } from '../core/lock.js';
import type { LockClient } from '../index.js';
import { SCOPE } from './lock-telemetry.constants.js';
import type { MeasurementBuffer } from './measurement-buffer.js';

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
    description: 'How long the lock is held that is held the longest now, elections apart.',
  });
  readonly #leading = this.#meter.createObservableUpDownCounter(
    'nestjs_interlock.election.leading',
    { unit: '{election}', description: 'Elections that are led now.' },
  );
  readonly #observe: BatchObservableCallback;

  constructor(clients: readonly LockClient[], measurements: MeasurementBuffer) {
    this.#observe = (result) => {
      measurements.flush(); // the SDK asks what is observed before it reads what was recorded
      for (const client of clients) {
        const attributes = { 'nestjs_interlock.client': client.name };
        const { held, waiting } = client.status();
        const holds = client.activity().filter(({ state }) => state === 'held');
        const locks = holds.filter(({ recipe }) => !isElection(recipe));
        const oldest = locks.reduce((age, { forMs }) => Math.max(age, forMs), 0);
        result.observe(this.#held, held, attributes);
        result.observe(this.#waiting, waiting, attributes);
        result.observe(this.#oldest, oldest / 1000, attributes);
        result.observe(this.#leading, holds.length - locks.length, attributes);
      }
    };
    this.#meter.addBatchObservableCallback(this.#observe, this.#observed);
  }

  /** Forgets the clients. */
  stop(): void {
    this.#meter.removeBatchObservableCallback(this.#observe, this.#observed);
  }

  get #observed() {
    return [this.#held, this.#waiting, this.#oldest, this.#leading];
  }
}
