import type { Lock } from './lock.js';

/** One holder at a time. Whether nested acquires re-enter is up to the recipe. */
export interface Mutex extends Lock {}
