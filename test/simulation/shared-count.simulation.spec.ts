import { COUNTER_EVENTS } from './counters/counter-events.js';
import { simulateCounter } from './counters/simulate-counter.js';
import { schedulesSuite } from './schedules-suite.js';

schedulesSuite(
  'A shared count that is a distributed atomic integer in random accidents',
  (seed) => simulateCounter(seed, 32),
  COUNTER_EVENTS,
);
