/** Events that have to occur many times, or the schedules of an election prove nothing. */
export const ELECTION_EVENTS = [
  'stands',
  'queued again',
  'leads',
  'fenced',
  'lost',
  'released',
  'closed',
  'taken',
  'session ended',
  'CONNECTED',
  'SUSPENDED',
  'RECONNECTED',
  'LOST',
];
