import { trace } from '@opentelemetry/api';
import { isElection } from '../core/lock.js';
import type { LockClient, LockSubject } from '../index.js';
import { attributesOf } from './attributes-of.js';
import type { LockTelemetryOptions } from './lock-telemetry-options.js';
import { SCOPE } from './lock-telemetry.constants.js';
import { markFailed } from './mark-failed.js';
import { wallClock } from './wall-clock.js';

/**
 * Spans of waits, granted or not. Each is made when its acquire has ended, which is told inside of the caller's context:
 * so it is a child of the caller's span. Who stands for election has none: it may follow for days.
 */
export class AcquireSpans {
  readonly #tracer = trace.getTracer(SCOPE);

  constructor(private readonly options: Required<LockTelemetryOptions>) {}

  follow(client: LockClient): void {
    const { name } = client;
    const { minWait } = this.options;
    client.on('acquired', (event) => {
      if (event.waitedMs >= minWait) this.#add(name, event, event.waitedMs);
    });
    client.on('failed', (event) => this.#add(name, event, event.waitedMs, event.error));
  }

  #add(client: string, subject: LockSubject, waitedMs: number, error?: unknown): void {
    if (isElection(subject.recipe)) return;
    const attributes = attributesOf(client, subject);
    if (this.options.keys) attributes['nestjs_interlock.key'] = subject.key;
    const end = wallClock();
    const span = this.#tracer.startSpan('lock.acquire', { attributes, startTime: end - waitedMs });
    if (error !== undefined) markFailed(span, error, this.options);
    span.end(end);
  }
}
