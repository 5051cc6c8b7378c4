import { describe } from '@jest/globals';
import type { Backend } from './backend.js';
import { leaderSelectorClosingSuite } from './leader-selector-closing.suite.js';
import { leaderSelectorFaultsSuite } from './leader-selector-faults.suite.js';
import { leaderSelectorParticipantsSuite } from './leader-selector-participants.suite.js';
import { leaderSelectorScopeSuite } from './leader-selector-scope.suite.js';
import { leaderSelectorTermsSuite } from './leader-selector-terms.suite.js';
import { onStage } from './on-stage.js';
import { Stage } from './stage.js';

/** Everything that a leader selector promises on ZooKeeper, with the cases of Curator's TestLeaderSelector. */
export function leaderSelectorSuite(name: string, makeBackend: () => Promise<Backend>): void {
  describe(`A leader selector on ${name}`, () => {
    const stage = onStage(async () => Stage.build(await makeBackend()));

    describe('leading', () => leaderSelectorTermsSuite(stage));
    describe('its function', () => leaderSelectorScopeSuite(stage));
    describe('the participants', () => leaderSelectorParticipantsSuite(stage));
    describe('closing', () => leaderSelectorClosingSuite(stage));
    describe('leaders', () => leaderSelectorFaultsSuite(stage));
  });
}
