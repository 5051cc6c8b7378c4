import { LOCK_EVENTS } from './locks/lock-events.js';
import { schedulesSuite } from './schedules-suite.js';

schedulesSuite('A multi-lock in random accidents', 'multi-lock', [...LOCK_EVENTS, 're-entered']);
