import type { Visit } from './visit.js';

/** What is requested of a lock. */
export interface Asked {
  readonly wait?: number;
  readonly isTry?: boolean;
  readonly permits?: number;
  /** The visit in the scope of which it is requested. */
  readonly outer?: Visit;
}
