import { LatchUser } from '../elections/latch-user.js';
import { simulateElection } from '../elections/simulate-election.js';
import type { Schedule } from '../schedule.js';

export const schedule: Schedule = (seed) =>
  simulateElection(seed, (options) => new LatchUser(options));
