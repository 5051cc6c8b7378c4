import { LOCK_EVENTS } from './locks/lock-events.js';
import { schedulesSuite } from './schedules-suite.js';

schedulesSuite('A read/write lock in random accidents', 'read-write-lock', [
  ...LOCK_EVENTS,
  're-entered',
  'downgraded',
  'failed with LOCK_UPGRADE',
]);
