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
