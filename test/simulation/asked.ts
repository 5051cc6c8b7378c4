import type { Visit } from './visit.js';

/** What is asked of a lock. */
export interface Asked {
  readonly wait?: number;
  readonly isTry?: boolean;
  readonly permits?: number;
  /** The visit in whose scope it is asked. */
  readonly outer?: Visit;
}
