import { simulateCounter } from '../counters/simulate-counter.js';
import type { Schedule } from '../schedule.js';

export const schedule: Schedule = (seed) => simulateCounter(seed, 64);
