import { Inject, Injectable } from '@nestjs/common';
import {
  type Attributes,
  context,
  isSpanContextValid,
  type Span,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { lossReason } from '../core/internal/lease-handle.js';
import { isElection } from '../core/lock.js';
import {
  type Lease,
  LockAbortedError,
  type LockClient,
  type LockPlan,
  type LockSubject,
  type LockTracer,
} from '../index.js';
import { DEFAULT_LOCK_CLIENT } from '../lock.constants.js';
import {
  attributesOf,
  errorType,
  LOCK_TELEMETRY_OPTIONS,
  type LockTelemetryOptions,
  SCOPE,
} from './telemetry-attributes.js';

/** Time origin of `performance.now()`, in milliseconds since 1970, as far as it is known. */
let origin = -Infinity;

/**
 * Milliseconds since 1970, with fractions. `Date.now()` has none, so a child would seem to start before its parent;
 * `performance.timeOrigin` does not follow when the system clock is set.
 *
 * Invariant: `origin` is never above the true one, and never lowered, unless the system clock is set; so this clock does
 * not run backwards. `Date.now()`, taken between two readings of `performance.now()`, gives whole milliseconds only, so
 * together they give two bounds of the origin, however long the process was interrupted in between.
 */
export function wallClock(): number {
  const before = performance.now();
  const time = Date.now();
  const after = performance.now();
  const least = time - after;
  const isSetBack = origin >= time + 1 - before;
  if (origin < least || isSetBack) origin = least;
  return origin + after;
}

/**
 * Spans of waits, granted or not. Each is created when its acquire ends; that event is emitted in the caller's context, so
 * the span is a child of the caller's span. Election candidates have no spans: they may follow for days.
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

/** Spans of decorated methods while they hold their locks; spans of the methods themselves are children of these. */
@Injectable()
export class HoldTracer implements LockTracer {
  readonly #tracer = trace.getTracer(SCOPE);
  readonly #attributes = new WeakMap<LockPlan, Attributes>();

  constructor(@Inject(LOCK_TELEMETRY_OPTIONS) private readonly options: LockTelemetryOptions) {}

  hold(plan: LockPlan, proceed: () => Promise<unknown>, lease: Lease): unknown {
    const attributes = this.#attributesOf(plan, lease);
    const span = this.#tracer.startSpan('lock.hold', { attributes, startTime: wallClock() });
    const isReal = span.isRecording() || isSpanContextValid(span.spanContext());
    if (!isReal) return proceed(); // there is no SDK
    return this.#runInside(span, lease, proceed);
  }

  async #runInside(span: Span, lease: Lease, proceed: () => Promise<unknown>): Promise<unknown> {
    try {
      return await context.with(trace.setSpan(context.active(), span), proceed);
    } finally {
      const loss = lossReason(lease);
      if (loss !== undefined) markFailed(span, loss, this.options);
      span.end(wallClock());
    }
  }

  #attributesOf(plan: LockPlan, lease: Lease): Attributes {
    let attributes = this.#attributes.get(plan);
    if (attributes === undefined) {
      const { lock, method, options } = plan;
      const { recipe = 'mutex' } = lock;
      const known = attributesOf(options.client ?? DEFAULT_LOCK_CLIENT, { recipe, method });
      // The parts of a multi-lock may belong to several clients.
      attributes =
        recipe === 'multiLock' ? { ...known, 'nestjs_interlock.client': undefined } : known;
      this.#attributes.set(plan, attributes);
    }
    return this.options.keys ? { ...attributes, 'nestjs_interlock.key': lease.key } : attributes;
  }
}

/** Records in `span` what failed. Messages contain the key, so they are recorded only if keys are. */
export function markFailed(span: Span, error: unknown, { keys }: LockTelemetryOptions): void {
  span.setAttribute('error.type', errorType(error));
  if (error instanceof LockAbortedError) return; // the caller gave up, which is not a failure of the lock
  const message = keys && error instanceof Error ? error.message : undefined;
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}
