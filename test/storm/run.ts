// npm run test:storm [-- ROUNDS]: three rounds of the storm, of six faults each, with a table of what they did.
import { FAULTS, isHarmless, Storm, type StormRow } from './storm.js';

const ROUNDS = Number(process.argv[2] ?? 3);

const storm = await Storm.start();
const rows: StormRow[] = [];
try {
  for (let round = 0; round < ROUNDS; round++) {
    for (const fault of FAULTS) {
      const row = await storm.strike(fault);
      rows.push(row);
      console.log(line(row));
    }
  }
} finally {
  await storm.stop();
}
const failed = rows.filter((row) => !isHarmless(row)).length;
console.log(`${rows.length - failed} passed, ${failed} failed`);
if (failed > 0) process.exitCode = 1;

function line({ fault, server, states, report, rival, ...row }: StormRow): string {
  const { answered, failed, foreign, contention } = report;
  return [
    `${fault} #${server}`.padEnd(14),
    states
      .map(({ ms, state }) => `${ms}:${state}`)
      .join(' ')
      .padEnd(30),
    row.isNoticed ? 'noticed' : 'NOT NOTICED',
    row.isSessionKept && report.isLeaseKept ? 'session and lease kept' : 'SESSION OR LEASE LOST',
    `foreign hung ${foreign.hung} of ${foreign.opened}`,
    `requests ${answered} + ${failed} failed, oldest ${Math.round(report.oldestPending)} ms`,
    `grants ${contention.grants} + ${rival.grants}, losses ${contention.losses + rival.losses}`,
    `two holders ${row.violations}`,
  ].join(' | ');
}
