// npm run test:fleet: the mixed fleets at full length, with every recipe and every accident; one line each. With an argument
// only that part: `zookeeper`, `redis`, `election`, `counters`, `barrier`.
import { ZooKeeperEnsemble } from '../../support/zookeeper-ensemble.js';
import { REDIS_DEPLOYMENTS, type RedisDeploymentKind } from '../support/redis-deployment.js';
import { startRedisDeployment } from '../support/start-redis-deployment.js';
import type { Accident } from './accident.js';
import { ELECTIONS } from './elections.js';
import { Fleet } from './fleet.js';
import { fleetLine } from './fleet-line.js';
import { frozenProcesses } from './frozen-processes.js';
import type { Ground } from './ground.js';
import { isSound } from './is-sound.js';
import { killedServers } from './killed-servers.js';
import { noAccident } from './no-accident.js';
import type { Recipe } from './recipe.js';
import { RedisGround } from './redis-ground.js';
import { REDIS_RECIPES } from './redis-recipes.js';
import { ZooKeeperGround } from './zookeeper-ground.js';
import { ZOOKEEPER_RECIPES } from './zookeeper-recipes.js';

interface Run<G extends Ground> {
  readonly recipe: Recipe;
  readonly accident: Accident<G>;
}

const [only] = process.argv.slice(2);
let passed = 0;
let failed = 0;
const isWanted = (part: string) => only === undefined || only === part;
if (isWanted('zookeeper')) await runOnZooKeeper();
for (const [part, run] of Object.entries(ELECTIONS)) if (isWanted(part)) count(await run());
if (isWanted('redis')) for (const kind of REDIS_DEPLOYMENTS) await runOnRedis(kind);
console.log(`${passed} passed, ${failed} failed`);
if (failed > 0) process.exitCode = 1;

async function runOnZooKeeper(): Promise<void> {
  const ensemble = await ZooKeeperEnsemble.start();
  try {
    const accidents = [
      noAccident(60_000),
      killedServers(6, 10_000),
      frozenProcesses('node1', 'node2', 'node3', 'node4'),
    ];
    const runs = accidents.flatMap((accident) => each(ZOOKEEPER_RECIPES, accident));
    await runAll('ZooKeeper', await ZooKeeperGround.open(ensemble), runs);
  } finally {
    await ensemble.stop();
  }
}

async function runOnRedis(kind: RedisDeploymentKind): Promise<void> {
  const deployment = await startRedisDeployment(kind);
  try {
    const serving = REDIS_RECIPES.filter(({ starves, isAnonymous }) => !starves && !isAnonymous);
    await runAll(`Redis (${kind})`, new RedisGround(deployment), [
      ...each(REDIS_RECIPES, noAccident(60_000)),
      ...each(serving, frozenProcesses('node1', 'node2')),
    ]);
  } finally {
    await deployment.stop();
  }
}

function count(isWell: boolean): void {
  if (isWell) passed += 1;
  else failed += 1;
}

function each<G extends Ground>(recipes: readonly Recipe[], accident: Accident<G>): Run<G>[] {
  return recipes.map((recipe) => ({ recipe, accident }));
}

async function runAll<G extends Ground>(name: string, ground: G, runs: readonly Run<G>[]) {
  const fleet = await Fleet.start(ground);
  try {
    for (const { recipe, accident } of runs) {
      const report = await fleet.run(recipe, accident);
      count(isSound(report));
      console.log(fleetLine(name, report));
    }
  } finally {
    await fleet.stop();
  }
}
