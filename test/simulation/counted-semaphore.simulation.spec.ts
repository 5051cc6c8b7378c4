import { LOCK_EVENTS } from './locks/lock-events.js';
import { schedulesSuite } from './schedules-suite.js';

schedulesSuite('A semaphore with a shared count in random accidents', 'counted-semaphore', [
  ...LOCK_EVENTS,
  'count changed',
]);
