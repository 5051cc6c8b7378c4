import type { Attributes } from '@opentelemetry/api';
import { LockError, type LockSubject } from '../index.js';

/** The name under which spans and metrics are made. */
export const SCOPE = 'nestjs-interlock';

/** Token of the options. */
export const LOCK_TELEMETRY_OPTIONS: unique symbol = Symbol.for(
  'nestjs-interlock:LockTelemetryOptions',
);

/** Options of `LockTelemetryModule.forRoot`. */
export interface LockTelemetryOptions {
  /**
   * Put the keys of locks into spans, as `nestjs_interlock.key`? They may name people and orders. Metrics never have them.
   *
   * @default false
   */
  readonly keys?: boolean;
  /**
   * Shortest wait that has a span, in ms; 0 means all. Shorter ones are in the metrics only: a span for every lock that was
   * free would have its price, and show nothing. Waits that failed always have one.
   *
   * @default 1
   */
  readonly minWait?: number;
}

/**
 * What spans and metrics tell of a lock: no more than the code of the app has variants of.
 *
 * Made for every event, so at once, and in the order in which the SDK sorts them: that is cheaper.
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

/** The attribute `error.type`: the code of an error of ours, or what OpenTelemetry calls all others. */
export function errorType(error: unknown): string {
  return error instanceof LockError ? error.code : '_OTHER';
}
