import { ELECTION_EVENTS } from './elections/election-events.js';
import { schedulesSuite } from './schedules-suite.js';

schedulesSuite('Leader latches in random accidents', 'leader-latch', [
  ...ELECTION_EVENTS,
  'entered',
  'kept out',
  'awaited',
  'failed with LOCK_TIMEOUT',
  'failed with LOCK_ABORTED',
  'failed with LOCK_ELECTION_CLOSED',
]);
