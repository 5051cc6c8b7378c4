import { queueDriver } from './queue-driver.js';

/** Curator's class of that name: the queue of a mutex. */
export const standardLockInternalsDriver = queueDriver('lock-');
