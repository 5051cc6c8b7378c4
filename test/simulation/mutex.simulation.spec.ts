import { LOCK_EVENTS } from './locks/lock-events.js';
import { schedulesSuite } from './schedules-suite.js';

schedulesSuite('A mutex in random accidents', 'mutex', [...LOCK_EVENTS, 're-entered']);
