/** Events that have to occur many times, or the schedules of a number prove nothing. */
export const COUNTER_EVENTS = [
  'number changed',
  'made',
  'not made',
  'read',
  'failed with MAYBE_DONE',
  'failed with LOCK_CLIENT_CLOSED',
  'session ended',
  'SUSPENDED',
  'RECONNECTED',
  'LOST',
];
