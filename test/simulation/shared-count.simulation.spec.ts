import { COUNTER_EVENTS } from './counters/counter-events.js';
import { schedulesSuite } from './schedules-suite.js';

schedulesSuite(
  'A shared count that is a distributed atomic integer in random accidents',
  'shared-count',
  COUNTER_EVENTS,
);
