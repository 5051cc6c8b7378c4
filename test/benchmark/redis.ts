import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import { Program } from '../faults/support/program.js';
import { RedisServer } from '../support/redis-server.js';
import { BareLocks, sendBy } from './redis/bare-locks.js';
import {
  buildRedissonPeer,
  type LockMaker,
  NodeContestant,
  type RedisContestant,
  type RedisContestants,
  RedissonContestant,
} from './redis/contestants.js';
import { contenders, crowd, handOff } from './redis/contention.js';
import { deadWaiters, renewals } from './redis/upkeep.js';
import { installPeers, type Library, ourLibrary, peerLibraries } from './redis/libraries.js';
import { recipes, uncontended } from './redis/cycles.js';
import { ByNodeRedis, byNodeRedis } from './redis/node-redis.js';
import { redLock } from './redis/red-lock.js';
import type { Row } from './row.js';

/** All that is measured on one real server, in one run. */
export async function redis(): Promise<Row[]> {
  const hasPeers = installPeers();
  const server = await RedisServer.start();
  const client = await createRedisLockClient('benchmark', { client: server.client() });
  await client.connect();
  const bare = await BareLocks.on(sendBy(server.client()));
  const nodeRedis = await ByNodeRedis.on(server.url);
  const libraries: Record<string, Library> = {
    ours: ourLibrary(client),
    ...(hasPeers ? peerLibraries(() => [server.client()]) : {}),
  };
  const makers = makersOf(libraries, 'lock');
  const contestants = contestantsOf(makers, (key) => key);
  const floor = new NodeContestant(bare.lockOn);
  let redisson: RedissonContestant | undefined;
  const waiter = new Program(new URL('./redis/waiter.ts', import.meta.url), [server.url]);
  try {
    redisson = await startRedisson([server.url]);
    const of = (recipe: Parameters<RedissonContestant['of']>[0]): RedisContestants =>
      redisson ? { Redisson: redisson.of(recipe) } : {};
    Object.assign(contestants, of('lock'));
    await waiter.next();
    const publisher = server.client();
    const publish = () => publisher.publish('floor', '0');
    return [
      ...(await uncontended({ ...contestants, floor })),
      ...(await byNodeRedis(nodeRedis)),
      ...(await handOff(makers, publish, waiter)),
      ...(await crowd(contestants)),
      ...(await contenders(makers)),
      ...(await recipes({
        semaphore: {
          ...contestantsOf(makersOf(libraries, 'semaphore'), (key) => `permits of ${key}`),
          ...of('semaphore'),
        },
        oneSlot: {
          ...contestantsOf(makersOf(libraries, 'multiLock'), (key) => `{${key}}`),
          floor: new NodeContestant((key) => bare.multiLockOn(`{floor ${key}}`)),
          ...of('oneSlot'),
        },
        manySlots: {
          ...contestantsOf(makersOf(libraries, 'multiLock'), (key) => `many ${key}`),
          floor: new NodeContestant((key) => bare.multiLockOn(`many floor ${key}`)),
          ...of('manySlots'),
        },
      })),
      ...(await redLock(hasPeers, startRedisson)),
      ...(await deadWaiters(server)),
      ...(await renewals(server)),
    ];
  } finally {
    await waiter.stop();
    await redisson?.close();
    await client.close();
    await nodeRedis.close();
    await server.stop();
  }
}

function makersOf(libraries: Readonly<Record<string, Library>>, recipe: keyof Library) {
  const makers: Record<string, LockMaker> = {};
  for (const [name, { [recipe]: maker }] of Object.entries(libraries))
    if (maker) makers[name] = maker;
  return makers;
}

/** Each with keys of its own. */
function contestantsOf(
  makers: Readonly<Record<string, LockMaker>>,
  keyOf: (key: string) => string,
): Record<string, RedisContestant> {
  const contestants: Record<string, RedisContestant> = {};
  for (const [name, lockOn] of Object.entries(makers))
    contestants[name] = new NodeContestant((key) => lockOn(keyOf(`${name} ${key}`)));
  return contestants;
}

async function startRedisson(urls: readonly string[]): Promise<RedissonContestant | undefined> {
  const build = buildRedissonPeer();
  if ('classPath' in build) return RedissonContestant.start(urls, build.classPath);
  console.error(`Redisson is left out: ${build.missing}`);
  return undefined;
}
