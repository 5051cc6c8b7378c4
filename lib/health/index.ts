export * from './lock-health-options.interface.js';
export * from './lock-health.indicator.js';
export * from './lock-ping-check-options.interface.js';
