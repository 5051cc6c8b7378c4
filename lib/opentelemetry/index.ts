export type { LockTelemetryOptions } from './telemetry-attributes.js';
export { LockTelemetryModule } from './lock-telemetry.module.js';
