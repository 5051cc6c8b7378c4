/** The name under which spans and metrics are made. */
export const SCOPE = 'nestjs-interlock';

/** Token of the options. */
export const LOCK_TELEMETRY_OPTIONS: unique symbol = Symbol.for(
  'nestjs-interlock:LockTelemetryOptions',
);
