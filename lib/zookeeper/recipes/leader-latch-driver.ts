import { queueDriver } from './queue-driver.js';

/** As that of a mutex, with the names of Curator's `LeaderLatch`. */
export const leaderLatchDriver = queueDriver('latch-');
