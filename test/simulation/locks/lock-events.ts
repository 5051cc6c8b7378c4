/** Events that have to occur many times, or the schedules of a lock prove nothing. */
export const LOCK_EVENTS = [
  'granted',
  'refused',
  'released',
  'fenced',
  'lost',
  'queued again',
  'taken',
  'session ended',
  'failed with LOCK_TIMEOUT',
  'failed with LOCK_ABORTED',
  'failed with LOCK_CLIENT_CLOSED',
  'CONNECTED',
  'SUSPENDED',
  'RECONNECTED',
  'LOST',
];
