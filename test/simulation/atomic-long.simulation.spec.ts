import { COUNTER_EVENTS } from './counters/counter-events.js';
import { simulateCounter } from './counters/simulate-counter.js';
import { schedulesSuite } from './schedules-suite.js';

schedulesSuite(
  'A distributed atomic long in random accidents',
  (seed) => simulateCounter(seed, 64),
  COUNTER_EVENTS,
);
