import { describe } from '@jest/globals';
import type { Backend } from './backend.js';
import { doubleBarrierEntrySuite } from './double-barrier-entry.suite.js';
import { doubleBarrierFaultsSuite } from './double-barrier-faults.suite.js';
import { doubleBarrierLeavingSuite } from './double-barrier-leaving.suite.js';
import { doubleBarrierMisuseSuite } from './double-barrier-misuse.suite.js';
import { doubleBarrierRoundsSuite } from './double-barrier-rounds.suite.js';
import { DoubleBarrierStage } from './double-barrier-stage.js';
import { onStage } from './on-stage.js';
import { Stage } from './stage.js';

/** Everything that a double barrier promises; with the cases of Curator's TestDistributedDoubleBarrier. */
export function doubleBarrierSuite(name: string, makeBackend: () => Promise<Backend>): void {
  describe(`A double barrier on ${name}`, () => {
    const stage = onStage(async () => Stage.build(await makeBackend()));
    const barriers = new DoubleBarrierStage(stage);

    describe('with its members', () => doubleBarrierRoundsSuite(stage, barriers));
    describe('while a member enters', () => doubleBarrierEntrySuite(stage, barriers));
    describe('while a member leaves', () => doubleBarrierLeavingSuite(stage, barriers));
    describe('when something fails', () => doubleBarrierFaultsSuite(stage, barriers));
    describe('that is misused', () => doubleBarrierMisuseSuite(stage, barriers));
  });
}
