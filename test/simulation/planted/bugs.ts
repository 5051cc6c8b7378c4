import { DEADLOCK_BUGS } from './deadlock-bugs.js';
import { ELECTION_BUGS } from './election-bugs.js';
import { HAND_OFF_BUGS } from './hand-off-bugs.js';
import { QUEUE_BUGS } from './queue-bugs.js';
import { SESSION_BUGS } from './session-bugs.js';
import { WRITE_BUGS } from './write-bugs.js';
import type { PlantedBug } from './plant.js';

/** All of them. */
export const BUGS: readonly PlantedBug[] = [
  ...SESSION_BUGS,
  ...QUEUE_BUGS,
  ...ELECTION_BUGS,
  ...WRITE_BUGS,
  ...HAND_OFF_BUGS,
  ...DEADLOCK_BUGS,
];
