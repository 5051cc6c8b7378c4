// npm run test:storm:redis [-- SECONDS]: ten minutes of the storm, with a row for every ten seconds.
// REDIS_STORM_SEED=7 uses the faults and the load of that seed; how they coincide depends on the machine.
// REDIS_STORM_REPLAYS=unanswered: no command that its client saw answered arrives twice.
// Started by a process that listens, it sends its last report to that process and prints nothing.
import { RedisStorm, type StormReport } from './redis-storm.js';

const MINUTES = 10;
const seconds = Number(process.argv[2] ?? MINUTES * 60);
const seed = Number(process.env.REDIS_STORM_SEED ?? Date.now() % 100_000);
const print = process.send ? () => {} : console.log;

const storm = await RedisStorm.start(seed);
for (const event of ['unhandledRejection', 'uncaughtException'] as const)
  process.on(event, (error: Error) => storm.findings.add(event, error?.stack ?? String(error)));

print(`${seconds} s of storm, REDIS_STORM_SEED=${seed}`);
let told = 0;
try {
  await storm.rage(seconds * 1_000, (report) => {
    print(row(report));
    for (const { at, what } of report.ofServers.slice(told)) print(`  at ${at} ms: ${what}`);
    told = report.ofServers.length;
  });
} finally {
  await storm.stop();
}

const report = storm.report();
print(row(report));
for (const { at, kind, text, story } of report.findings)
  print([`${kind} at ${at} ms: ${text}`, ...story.map((line) => `    ${line}`)].join('\n'));
print(JSON.stringify({ granted: report.grants, faults: report.faults }, null, 2));
print(`found: ${JSON.stringify(storm.findings.counts())}`);
const idle = Object.values(report.grants).filter((count) => count === 0).length;
const failed = Math.min(Object.keys(report.grants).length, report.findings.length + idle);
print(`${Object.keys(report.grants).length - failed} passed, ${failed} failed`);
if (failed > 0) process.exitCode = 1;
if (process.send) process.send(report, () => process.disconnect());

function row({ at, grants, connections, late, again, unknown, findings }: StormReport): string {
  const granted = Object.values(grants).reduce((sum, count) => sum + count, 0);
  return [
    `${Math.round(at / 1_000)} s`.padStart(6),
    `grants ${granted}`,
    `connections ${connections}`,
    `commands late ${late}, again ${again}`,
    `unknown ${unknown}`,
    `found ${findings.length}`,
  ].join(' | ');
}
