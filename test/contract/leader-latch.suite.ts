import { describe } from '@jest/globals';
import type { Backend } from './backend.js';
import { leaderLatchClosingSuite } from './leader-latch-closing.suite.js';
import { leaderLatchElectionSuite } from './leader-latch-election.suite.js';
import { leaderLatchFaultsSuite } from './leader-latch-faults.suite.js';
import { leaderLatchInputSuite } from './leader-latch-input.suite.js';
import { leaderLatchListenersSuite } from './leader-latch-listeners.suite.js';
import { leaderLatchOutagesSuite } from './leader-latch-outages.suite.js';
import { leaderLatchRacesSuite } from './leader-latch-races.suite.js';
import { onStage } from './on-stage.js';
import { Stage } from './stage.js';

/** Everything that a leader latch promises on ZooKeeper; with the cases of Curator's TestLeaderLatch and TestLeaderAcls. */
export function leaderLatchSuite(name: string, makeBackend: () => Promise<Backend>): void {
  describe(`A leader latch on ${name}`, () => {
    const stage = onStage(async () => Stage.build(await makeBackend()));

    describe('elects', () => leaderLatchElectionSuite(stage));
    describe('notifies its listeners', () => leaderLatchListenersSuite(stage));
    describe('closes', () => leaderLatchClosingSuite(stage));
    describe('when nodes and permissions go', () => leaderLatchFaultsSuite(stage));
    describe('when servers and sessions go', () => leaderLatchOutagesSuite(stage));
    describe('when two things happen at once', () => leaderLatchRacesSuite(stage));
    describe('refuses', () => leaderLatchInputSuite(stage));
  });
}
