import { describe } from '@jest/globals';
import { clientActivitySuite } from './client-status-activity.suite.js';
import { clientHealthSuite } from './client-status-health.suite.js';
import { clientPingSuite } from './client-status-ping.suite.js';
import type { LockStage } from './lock-stage.js';
import { onStage } from './on-stage.js';

/** What differs from backend to backend. */
export interface ClientStatusTraits<S extends LockStage> {
  /** The holders of the mutex of the test, as the servers know them. */
  readonly holders: (stage: S) => Promise<unknown[]>;
  /** Health while no server can be reached and the locks may still be held. */
  readonly suspended: 'degraded' | 'down';
  /** Id of its session, where it has one. */
  readonly sessionId?: (stage: S) => string;
  /** Has it other locks than mutexes? Default true. */
  readonly hasAllRecipes?: boolean;
}

/** What a client reports of itself: `status()`, `activity()` and `ping()`. */
export function clientStatusSuite<S extends LockStage>(
  name: string,
  build: () => Promise<S>,
  { holders, suspended, sessionId, hasAllRecipes = true }: ClientStatusTraits<S>,
): void {
  describe(`The status of a client on ${name}`, () => {
    const stage = onStage(build);

    describe('activity', () => clientActivitySuite(stage, () => holders(stage()), hasAllRecipes));
    describe('its health', () => clientHealthSuite(stage, suspended, () => sessionId?.(stage())));
    describe('ping()', () => clientPingSuite(stage));
  });
}
