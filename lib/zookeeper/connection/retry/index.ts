export * from './retry-policy.js';
export * from './bounded-exponential-backoff-retry.js';
export * from './exponential-backoff-retry.js';
export * from './retry-forever.js';
export * from './retry-n-times.js';
export * from './retry-until-elapsed.js';
