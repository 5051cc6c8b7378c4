import { beforeAll, describe, expect, it } from '@jest/globals';
import { Program } from '../faults/support/program.js';
import { useShared } from '../support/fixtures.js';
import { byTier } from '../support/tier.js';
import type { StormReport } from './redis/redis-storm.js';
import { FAULTS, isHarmless, Storm } from './storm.js';

describe('A busy process, in a storm of faults of its servers,', () => {
  const storm = useShared(() => Storm.start());
  const [kill, , shortFreeze, , , killLeader] = FAULTS;
  const few = [kill!, shortFreeze!, killLeader!];
  const faults = byTier({ quick: few, standard: few, long: FAULTS });

  it.each(faults.map((fault, n) => ({ name: fault.name, n: n + 1, fault })))(
    'survives fault $n, $name: session kept, every loss reported, no foreign connection hung, one holder',
    async ({ fault }) => {
      const row = await storm().strike(fault);
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

describe('All recipes on Redis, in a storm of delays, duplicates, cuts, demotions and refusals,', () => {
  const seconds = byTier({ quick: 5, standard: 10, long: 120 });
  const program = useShared(async () => {
    const url = new URL('./redis/run.ts', import.meta.url);
    return new Program(url, [`${seconds}`]);
  });
  let report: StormReport;

  beforeAll(async () => {
    report = await program().next<StormReport>();
    process.stdout.write(`A storm on Redis: REDIS_STORM_SEED=${report.seed}\n`);
  }, 300_000);

  it('keep every promise, and leave nothing behind', () => {
    expect(report.findings).toEqual([]);
  });

  it('make progress: each was granted', () => {
    const idle = Object.entries(report.grants).filter(([, count]) => count === 0);
    expect(idle).toEqual([]);
  });

  it('met every fault: copies arrived late and twice, the primary was demoted', () => {
    expect(Math.min(report.late, report.again, report.faults.demotion ?? 0)).toBeGreaterThan(0);
  });

  it('end by themselves: no handle is left open', async () => {
    expect(await program().exited).toMatchObject({ signal: null, errors: '' });
  });
});
