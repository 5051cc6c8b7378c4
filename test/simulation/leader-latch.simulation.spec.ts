import { ELECTION_EVENTS } from './elections/election-events.js';
import { LatchUser } from './elections/latch-user.js';
import { simulateElection } from './elections/simulate-election.js';
import { schedulesSuite } from './schedules-suite.js';

schedulesSuite(
  'Leader latches in random accidents',
  (seed) => simulateElection(seed, (options) => new LatchUser(options)),
  [
    ...ELECTION_EVENTS,
    'entered',
    'kept out',
    'awaited',
    'failed with LOCK_TIMEOUT',
    'failed with LOCK_ABORTED',
    'failed with LOCK_ELECTION_CLOSED',
  ],
);
