import { Inject, Injectable } from '@nestjs/common';
import { context, isSpanContextValid, trace, type Attributes, type Span } from '@opentelemetry/api';
import { lossOf } from '../core/internal/lease-handle.js';
import { currentLease, type Lease, type LockPlan, type LockTracer } from '../index.js';
import { DEFAULT_LOCK_CLIENT } from '../lock.constants.js';
import { attributesOf } from './attributes-of.js';
import type { LockTelemetryOptions } from './lock-telemetry-options.js';
import { LOCK_TELEMETRY_OPTIONS, SCOPE } from './lock-telemetry.constants.js';
import { markFailed } from './mark-failed.js';
import { wallClock } from './wall-clock.js';

/** Spans of what decorated methods do inside of their locks; spans of the methods are their children. */
@Injectable()
export class HoldTracer implements LockTracer {
  readonly #tracer = trace.getTracer(SCOPE);
  readonly #attributes = new WeakMap<LockPlan, Attributes>();

  constructor(@Inject(LOCK_TELEMETRY_OPTIONS) private readonly options: LockTelemetryOptions) {}

  hold(plan: LockPlan, proceed: () => unknown): unknown {
    const lease = currentLease();
    const attributes = this.#attributesOf(plan, lease);
    const span = this.#tracer.startSpan('lock.hold', { attributes, startTime: wallClock() });
    const isReal = span.isRecording() || isSpanContextValid(span.spanContext());
    if (!isReal) return proceed(); // there is no SDK
    return this.#runInside(span, lease, proceed);
  }

  async #runInside(span: Span, lease: Lease | undefined, proceed: () => unknown): Promise<unknown> {
    try {
      return await context.with(trace.setSpan(context.active(), span), proceed);
    } finally {
      const loss = lease && lossOf(lease);
      if (loss !== undefined) markFailed(span, loss, this.options);
      span.end(wallClock());
    }
  }

  #attributesOf(plan: LockPlan, lease: Lease | undefined): Attributes {
    let attributes = this.#attributes.get(plan);
    if (attributes === undefined) {
      const { lock, method, options } = plan;
      const { recipe = 'mutex' } = lock;
      const known = attributesOf(options.client ?? DEFAULT_LOCK_CLIENT, { recipe, method });
      // The parts of a multi-lock may be of several clients.
      attributes =
        recipe === 'multiLock' ? { ...known, 'nestjs_interlock.client': undefined } : known;
      this.#attributes.set(plan, attributes);
    }
    return this.options.keys ? { ...attributes, 'nestjs_interlock.key': lease?.key } : attributes;
  }
}
