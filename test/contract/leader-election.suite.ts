import { describe } from '@jest/globals';
import { leaderElectionAccidentsSuite } from './leader-election-accidents.suite.js';
import type { LeaderElectionGround } from './leader-election-ground.js';
import { leaderElectionLatchesSuite } from './leader-election-latches.suite.js';
import { leaderElectionSelectorsSuite } from './leader-election-selectors.suite.js';
import { leaderSelectorScopeSuite } from './leader-selector-scope.suite.js';
import type { LockStage } from './lock-stage.js';
import { onStage } from './on-stage.js';

/**
 * What elections promise on Redis.
 *
 * @param layoutSuite what they have on the servers
 */
export function leaderElectionSuite<S extends LockStage>(
  name: string,
  makeGround: () => Promise<LeaderElectionGround<S>>,
  layoutSuite?: (stage: () => S) => void,
): void {
  describe(`An election on ${name}`, () => {
    let ground: LeaderElectionGround<S>;
    const stage = onStage(async () => (ground = await makeGround()).stage);

    describe('by latches', () => leaderElectionLatchesSuite(stage));
    describe('by selectors', () => leaderElectionSelectorsSuite(stage));
    describe('the function of a selector', () => leaderSelectorScopeSuite(stage));
    describe('leaders', () => leaderElectionAccidentsSuite(() => ground));
    if (layoutSuite) describe('the layout', () => layoutSuite(stage));
  });
}
