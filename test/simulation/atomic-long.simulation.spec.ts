import { COUNTER_EVENTS } from './counters/counter-events.js';
import { schedulesSuite } from './schedules-suite.js';

schedulesSuite('A distributed atomic long in random accidents', 'atomic-long', COUNTER_EVENTS);
