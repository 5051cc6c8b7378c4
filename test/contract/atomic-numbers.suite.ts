import { describe } from '@jest/globals';
import { atomicIntegerSuite } from './atomic-integer.suite.js';
import { atomicLongSuite } from './atomic-long.suite.js';
import { atomicPromotionSuite } from './atomic-promotion.suite.js';
import type { Backend } from './backend.js';
import { onStage } from './on-stage.js';
import { Stage } from './stage.js';

/** Everything that the atomic numbers promise; with the cases of Curator's TestDistributedAtomicLong. */
export function atomicNumbersSuite(name: string, makeBackend: () => Promise<Backend>): void {
  describe(`On ${name}`, () => {
    const stage = onStage(async () => Stage.build(await makeBackend()));
    describe('an atomic long', () => atomicLongSuite(stage));
    describe('an atomic integer', () => atomicIntegerSuite(stage));
    describe('an atomic number that others change too', () => atomicPromotionSuite(stage));
  });
}
