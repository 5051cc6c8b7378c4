import { ELECTION_EVENTS } from './elections/election-events.js';
import { SelectorUser } from './elections/selector-user.js';
import { simulateElection } from './elections/simulate-election.js';
import { schedulesSuite } from './schedules-suite.js';

schedulesSuite(
  'Leader selectors in random accidents',
  (seed) => simulateElection(seed, (options) => new SelectorUser(options)),
  ELECTION_EVENTS,
);
