import {
  type Attributes,
  type BatchObservableCallback,
  context,
  type Context,
  type Histogram,
  metrics,
} from '@opentelemetry/api';
import { isElection } from '../core/lock.js';
import { type LockClient, LockTimeoutError } from '../index.js';
import { attributesOf, errorType, SCOPE } from './telemetry-attributes.js';

/** Arguments of a deferred `Histogram.record` call, and the context in which it would have been made. */
interface Measurement {
  readonly histogram: Histogram;
  readonly value: number;
  readonly attributes: Attributes;
  readonly context: Context;
}

/**
 * Buffers measurements and records them in batches. For each of them the SDK serializes the attributes; in a batch, that
 * takes a third of the time that it takes in between an app's own work.
 *
 * Invariant: every measurement is passed on once, in the order in which they were made; at most `capacity` of them are
 * buffered. One that the SDK rejects does not hold up the others.
 */
export class MeasurementBuffer {
  #kept: Measurement[] = [];

  constructor(private capacity = 256) {}

  record(histogram: Histogram, value: number, attributes: Attributes): void {
    this.#kept.push({ histogram, value, attributes, context: context.active() });
    if (this.#kept.length >= this.capacity) this.flush();
  }

  /** Passes on the buffered measurements; called at every collection of metrics. An error of the SDK is a process warning. */
  flush(): void {
    const kept = this.#kept;
    this.#kept = [];
    for (const measurement of kept) handOn(measurement);
  }

  /** Flushes and stops buffering: there will be no further call of `flush`. */
  end(): void {
    this.capacity = 0;
    this.flush();
  }
}

function handOn({ histogram, value, attributes, context }: Measurement): void {
  try {
    histogram.record(value, attributes, context);
  } catch (error) {
    process.emitWarning(`A measurement of a lock could not be recorded: ${String(error)}`); // a view of the user's threw
  }
}

/** Locks that clients hold and wait for, observed at every collection of metrics. */
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
    const observe: BatchObservableCallback = (result) => {
      measurements.flush(); // the SDK calls observers before it reads recorded measurements
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
    this.#observe = observe;
    this.#meter.addBatchObservableCallback(observe, this.#observed);
  }

  /** Stops observing the clients. */
  stop(): void {
    this.#meter.removeBatchObservableCallback(this.#observe, this.#observed);
  }

  get #observed() {
    return [this.#held, this.#waiting, this.#oldest, this.#leading];
  }
}

/** Buckets in seconds, from an uncontended lock on a server next to the app to a queue that takes minutes. */
const SECONDS = {
  unit: 's',
  advice: {
    explicitBucketBoundaries: [
      0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
    ],
  },
};

/** Histograms and counters of lock events. */
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
  readonly #handOffs = this.#meter.createCounter('nestjs_interlock.lock.hand_offs', {
    unit: '{acquire}',
    description: 'Acquires that got the lock from another caller of their client.',
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
      if (isElection(event.recipe)) return; // a follower that waits for a day has not waited too long
      const attributes = attributesOf(name, event);
      if (event.handOffs) this.#handOffs.add(1, attributes);
      measurements.record(this.#wait, event.waitedMs / 1000, attributes);
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
