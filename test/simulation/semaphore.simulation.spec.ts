import { LOCK_EVENTS } from './locks/lock-events.js';
import { schedulesSuite } from './schedules-suite.js';

schedulesSuite('A semaphore in random accidents', 'semaphore', LOCK_EVENTS);
