import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FAULTS } from './fault.js';
import { isHarmless } from './is-harmless.js';
import { Storm } from './storm.js';

describe('A busy process, in a storm of faults of its servers,', () => {
  let storm: Storm;

  beforeAll(async () => {
    storm = await Storm.start();
  }, 60_000);
  afterAll(() => storm.stop());

  it.each(FAULTS.map((fault, n) => ({ name: fault.name, n: n + 1, fault })))(
    'survives fault $n, $name: session kept, every loss reported, no foreign connection hung, one holder',
    async ({ fault }) => {
      const row = await storm.strike(fault);
      expect({ ...row, isHarmless: isHarmless(row) }).toMatchObject({
        isNoticed: true,
        isSessionKept: true,
        report: { isLeaseKept: true, foreign: { hung: 0 } },
        violations: 0,
        isHarmless: true,
      });
    },
    60_000,
  );
});
