import { ELECTION_EVENTS } from './elections/election-events.js';
import { schedulesSuite } from './schedules-suite.js';

schedulesSuite('Leader selectors in random accidents', 'leader-selector', ELECTION_EVENTS);
