export * from './lock-telemetry-options.js';
export { LockTelemetryModule } from './lock-telemetry.module.js';
