import { LOCK_EVENTS } from './locks/lock-events.js';
import { schedulesSuite } from './schedules-suite.js';

schedulesSuite('A semaphore mutex in random accidents', 'semaphore-mutex', LOCK_EVENTS);
