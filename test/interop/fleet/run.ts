// npm run test:fleet: the mixed fleet at full length, with every recipe and every accident; a line each.
import { ZooKeeperEnsemble } from '../../support/zookeeper-ensemble.js';
import type { Accident } from './accident.js';
import { Fleet } from './fleet.js';
import type { FleetReport } from './fleet-report.js';
import { frozenProcesses } from './frozen-processes.js';
import { isSound } from './is-sound.js';
import { killedServers } from './killed-servers.js';
import { noAccident } from './no-accident.js';
import { RECIPES } from './recipe.js';

const SESSION_TIMEOUT = 10_000;
const ACCIDENTS: readonly Accident[] = [
  noAccident(60_000),
  killedServers(6, 10_000),
  frozenProcesses('node1', 'node2', 'node3', 'node4'),
];

const ensemble = await ZooKeeperEnsemble.start();
let failed = 0;
try {
  const fleet = await Fleet.start(ensemble, '5.9.0', SESSION_TIMEOUT);
  try {
    for (const accident of ACCIDENTS) {
      for (const recipe of RECIPES) {
        const report = await fleet.run(recipe, accident);
        if (!isSound(report)) failed += 1;
        console.log(line(report));
      }
    }
  } finally {
    await fleet.stop();
  }
} finally {
  await ensemble.stop();
}
console.log(`${ACCIDENTS.length * RECIPES.length - failed} passed, ${failed} failed`);
if (failed > 0) process.exitCode = 1;

function line(report: FleetReport): string {
  const { recipe, accident, grants, faults, losses, failures, before, after } = report;
  const counts = Object.entries(grants).map(([worker, count]) => `${worker} ${count}`);
  const sum = Object.values(grants).reduce((a, b) => a + b, 0);
  return [
    `${recipe}, ${accident}:`.padEnd(30),
    `${sum} grants (${counts.join(', ')})`,
    `${faults.length} faults${faults.map((fault) => `\n  ${fault}`).join('')}`,
    `${losses} lost, ${failures} failed`,
    before === after ? 'nothing left behind' : `LEFT BEHIND:\n${before}\nNOW\n${after}`,
  ].join(' | ');
}
