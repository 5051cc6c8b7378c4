import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import { Program } from '../integration/support/program.js';
import { RedisServer } from '../support/redis-server.js';
import { BareLocks } from './redis/bare-locks.js';
import { buildRedissonPeer } from './redis/build-redisson-peer.js';
import { contenders } from './redis/contenders.js';
import { crowd } from './redis/crowd.js';
import { handOff } from './redis/hand-off.js';
import { installPeers } from './redis/install-peers.js';
import { NodeContestant } from './redis/node-contestant.js';
import { ourLocks } from './redis/our-locks.js';
import { peerLocks } from './redis/peer-locks.js';
import type { RedisContestant } from './redis/redis-contestant.js';
import { RedissonContestant } from './redis/redisson-contestant.js';
import { renewals } from './redis/renewals.js';
import { uncontended } from './redis/uncontended.js';
import type { Row } from './row.js';

/** All that is measured on one real server, in one run. */
export async function redis(): Promise<Row[]> {
  const hasPeers = installPeers();
  const server = await RedisServer.start();
  const client = await createRedisLockClient('benchmark', { client: server.client() });
  await client.connect();
  const bare = await BareLocks.on(server.client());
  const makers = {
    ours: ourLocks(client),
    ...(hasPeers ? peerLocks(() => server.client()) : {}),
  };
  const contestants: Record<string, RedisContestant> = {};
  for (const [name, lockOn] of Object.entries(makers))
    contestants[name] = new NodeContestant((key) => lockOn(`${name} ${key}`));
  const floor = new NodeContestant(bare.lockOn);
  const waiter = new Program(new URL('./redis/waiter.ts', import.meta.url), [server.url]);
  try {
    await startRedisson(server.url, contestants);
    await waiter.next();
    const publisher = server.client();
    const publish = () => publisher.publish('floor', '0');
    return [
      ...(await uncontended({ ...contestants, floor })),
      ...(await handOff(makers, publish, waiter)),
      ...(await crowd(contestants)),
      ...(await contenders(makers)),
      ...(await renewals(server)),
    ];
  } finally {
    await waiter.stop();
    for (const contestant of Object.values(contestants)) await contestant.close();
    await client.close();
    await server.stop();
  }
}

async function startRedisson(url: string, contestants: Record<string, RedisContestant>) {
  const build = buildRedissonPeer();
  if ('missing' in build) return console.error(`Redisson is left out: ${build.missing}`);
  contestants.Redisson = await RedissonContestant.start(url, build.classPath);
}
