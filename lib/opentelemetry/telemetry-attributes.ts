import type { Attributes } from '@opentelemetry/api';
import { LockError, type LockSubject } from '../index.js';

/** Instrumentation scope of the spans and metrics. */
export const SCOPE = 'nestjs-interlock';

/** Injection token of the options. */
export const LOCK_TELEMETRY_OPTIONS: unique symbol = Symbol.for(
  'nestjs-interlock:LockTelemetryOptions',
);

/** Options of `LockTelemetryModule.forRoot`. */
export interface LockTelemetryOptions {
  /**
   * Whether spans contain lock keys, as `nestjs_interlock.key`. Keys may name people and orders. Metrics never have them.
   *
   * @default false
   */
  readonly keys?: boolean | undefined;
  /**
   * Shortest wait that has a span, in ms; 0 means all. Shorter waits are in the metrics only: a span for every uncontended
   * lock would cost time and show nothing. Failed waits always have a span.
   *
   * @default 1
   */
  readonly minWait?: number | undefined;
}

/**
 * Attributes of a lock in spans and metrics. Their cardinality is bounded by the code of the app.
 *
 * Created for every event, so in one step, and in the order in which the SDK sorts them: that is cheaper.
 */
export function attributesOf(
  client: string,
  { recipe, method }: Pick<LockSubject, 'recipe' | 'method'>,
): Attributes {
  if (method === undefined)
    return { 'nestjs_interlock.client': client, 'nestjs_interlock.recipe': recipe };
  return {
    'nestjs_interlock.client': client,
    'nestjs_interlock.method': method,
    'nestjs_interlock.recipe': recipe,
  };
}

/** The attribute `error.type`: the code of a `LockError`, or OpenTelemetry's value for all other errors. */
export function errorType(error: unknown): string {
  return error instanceof LockError ? error.code : '_OTHER';
}
