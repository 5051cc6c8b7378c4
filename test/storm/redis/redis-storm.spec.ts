import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Program } from '../../integration/support/program.js';
import type { StormReport } from './redis-storm.js';

const SECONDS = 30;

describe('All recipes on Redis, in a storm of delays, duplicates, cuts, demotions and refusals,', () => {
  let program: Program;
  let report: StormReport;

  beforeAll(async () => {
    program = new Program(new URL('./run.ts', import.meta.url), [`${SECONDS}`]);
    report = await program.next<StormReport>();
    process.stdout.write(`A storm on Redis: REDIS_STORM_SEED=${report.seed}\n`);
  }, 300_000);
  afterAll(() => program.stop());

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
    expect(await program.exited).toMatchObject({ signal: null, errors: '' });
  });
});
