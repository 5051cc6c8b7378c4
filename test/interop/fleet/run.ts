// npm run test:fleet: the mixed fleets at full length, with every recipe and every accident; one line each. With an argument
// only that part: `zookeeper`, `redis`, `hand-off`, `election`, `counters`, `barrier`.
import { ZooKeeperEnsemble } from '../../support/zookeeper-ensemble.js';
import {
  REDIS_DEPLOYMENTS,
  type RedisDeploymentKind,
  startRedisDeployment,
} from '../support/redis-deployment.js';
import {
  type Accident,
  Fleet,
  fleetLine,
  frozenProcesses,
  isSound,
  killedServers,
  noAccident,
} from './fleet.js';
import { runCounters, runDoubleBarrier } from './coordination.js';
import { ElectionFleet } from './election-fleet.js';
import { type Ground, RedisGround, ZooKeeperGround } from './grounds.js';
import { HAND_OFF_PLAN, HandOffFleet, handOffText, keepsPromises } from './hand-off-fleet.js';
import { type Recipe, REDIS_RECIPES, ZOOKEEPER_RECIPES } from './recipes.js';

interface Run<G extends Ground> {
  readonly recipe: Recipe;
  readonly accident: Accident<G>;
}

const SESSION_TIMEOUT = 2_000;
/** One strike every 3 s for a minute. */
const STRIKES = 20;
const TIMES = 1_000;
const ROUNDS = 30;

/**
 * The full runs of leader election, counters and barriers, by the arguments that select them; each resolves to whether all is
 * well.
 */
const ELECTIONS = {
  async election(): Promise<boolean> {
    const options = { size: 3, sessionTimeout: SESSION_TIMEOUT, strikes: STRIKES };
    const report = await onEnsemble((ensemble) => ElectionFleet.run(ensemble, options));
    const { terms, claims, unknowing, kills, freezes, faults, vacancies } = report;
    const worst = Math.max(...vacancies);
    const isWell =
      faults.length === 0 &&
      worst <= SESSION_TIMEOUT + 1_000 &&
      report.dissent.length === 0 &&
      report.leftBehind.length === 0;
    console.log(
      [
        `ZooKeeper, election, sessions of ${SESSION_TIMEOUT} ms: ${kills} killed, ${freezes} frozen`,
        `${terms.length} terms (${terms.map(({ worker }) => worker).join(' ')})`,
        `${claims} claims, ${unknowing} of Java processes just thawed that only the token shows`,
        `${faults.length} faults${faults.map((fault) => `\n  ${fault}`).join('')}`,
        `a new leader after ${vacancies.join(', ')} ms, at worst ${worst}`,
        report.dissent.length === 0
          ? 'all stand in the end'
          : `NOT ALL STAND: ${report.dissent.join('; ')}`,
        report.leftBehind.length === 0
          ? 'nothing left behind'
          : `LEFT: ${report.leftBehind.join()}`,
      ].join(' | '),
    );
    return isWell;
  },

  async counters(): Promise<boolean> {
    const { sums, failures, duration } = await withFleet((fleet) => runCounters(fleet.all, TIMES));
    const text = sums.map((sum) => sum.join('=')).join(', ');
    console.log(
      `ZooKeeper, counters: ${TIMES} from each side | ${text} | ${failures} done again | ${duration} ms`,
    );
    return sums.flat().every((sum) => sum === String(2 * TIMES));
  },

  async barrier(): Promise<boolean> {
    await withFleet((fleet, ensemble) => runDoubleBarrier(ensemble, fleet.all, ROUNDS));
    console.log(`ZooKeeper, double barrier of 3 + 3: ${ROUNDS} rounds, all in and out together`);
    return true;
  },
};

const [only] = process.argv.slice(2);
let passed = 0;
let failed = 0;
const isWanted = (part: string) => only === undefined || only === part;
if (isWanted('zookeeper')) await runOnZooKeeper();
for (const [part, run] of Object.entries(ELECTIONS)) if (isWanted(part)) count(await run());
if (isWanted('hand-off')) await runHandOff();
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

async function runHandOff(): Promise<void> {
  const [mutex, lock] = [ZOOKEEPER_RECIPES[0]!, REDIS_RECIPES[0]!];
  await onEnsemble(async (ensemble) => {
    const ground = await ZooKeeperGround.open(ensemble);
    try {
      const report = await HandOffFleet.run(ground, mutex, HAND_OFF_PLAN);
      count(keepsPromises(report));
      console.log(handOffText('ZooKeeper', report));
    } finally {
      await ground.close();
    }
  });
  const deployment = await startRedisDeployment('standalone');
  try {
    const report = await HandOffFleet.run(new RedisGround(deployment), lock, HAND_OFF_PLAN);
    count(keepsPromises(report));
    console.log(handOffText('Redis', report));
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
  const fleet = await Fleet.start(ground, 4);
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

async function onEnsemble<T>(run: (ensemble: ZooKeeperEnsemble) => Promise<T>): Promise<T> {
  const ensemble = await ZooKeeperEnsemble.start();
  try {
    return await run(ensemble);
  } finally {
    await ensemble.stop();
  }
}

/** Three processes of each language. */
function withFleet<T>(
  run: (fleet: Fleet<ZooKeeperGround>, ensemble: ZooKeeperEnsemble) => Promise<T>,
): Promise<T> {
  return onEnsemble(async (ensemble) => {
    const fleet = await Fleet.start(await ZooKeeperGround.open(ensemble), 3);
    try {
      return await run(fleet, ensemble);
    } finally {
      await fleet.stop();
    }
  });
}
