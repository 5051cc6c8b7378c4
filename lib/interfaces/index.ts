export * from './lock-key.interface.js';
export * from './lock-method-options.interface.js';
export * from './lock-module-async-options.interface.js';
export * from './lock-module-options.interface.js';
export * from './lock-options-factory.interface.js';
export * from './lock-plan.interface.js';
