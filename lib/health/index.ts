import '../loaded-copies.js';

export {
  LockHealthIndicator,
  type LockHealthOptions,
  type LockPingCheckOptions,
} from './lock-health.indicator.js';
