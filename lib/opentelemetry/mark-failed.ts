import { SpanStatusCode, type Span } from '@opentelemetry/api';
import { LockAbortedError } from '../index.js';
import { errorType } from './error-type.js';
import type { LockTelemetryOptions } from './lock-telemetry-options.js';

/** Tells in `span` what went wrong. Messages name the key, so they come with keys only. */
export function markFailed(span: Span, error: unknown, { keys }: LockTelemetryOptions): void {
  span.setAttribute('error.type', errorType(error));
  if (error instanceof LockAbortedError) return; // the caller gave up, which is no failure of the lock
  const message = keys && error instanceof Error ? error.message : undefined;
  span.setStatus({ code: SpanStatusCode.ERROR, message });
}
