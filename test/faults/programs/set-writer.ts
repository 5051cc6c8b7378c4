// Adds to shared sets, an element in each section under one lock, until it is ended. It never looks whether it has the lock.
// Says when it has read the sets, and writes when it is asked to, however late that is; then it says what became of it.
// Arguments: `redis` or `zookeeper`, where its lock client connects to, where the server is, its name.
import { once } from 'node:events';
import { LockError } from '../../../lib/core/errors/index.js';
import type { LockClient } from '../../../lib/core/lock-client.js';
import { createRedisLockClient } from '../../../lib/redis/create-redis-lock-client.js';
import { createZooKeeperLockClient } from '../../../lib/zookeeper/create-zookeeper-lock-client.js';
import {
  KINDS,
  type Outcome,
  outcomeOf,
  type SharedSets,
  setsOnRedis,
  setsOnZooKeeper,
} from '../support/shared-sets.js';

/** What it says in a section: first that it is inside, then the outcome of its update of each kind. */
export interface SetWriterReport {
  readonly element: string;
  readonly outcomes?: readonly Outcome[];
}

const [, , backend, connect = '', server = '', name] = process.argv;
const [client, sets] = backend === 'redis' ? await onRedis() : await onZooKeeper();
await client.connect();
process.once('disconnect', () => process.exit());
for (let n = 0; ; n++) await section(`${name}-${n}`);

async function section(element: string): Promise<void> {
  const lease = await client.mutex('sets').acquire();
  try {
    const add = await sets.read(await lease.fencingToken());
    say({ element });
    await once(process, 'message');
    const updates = KINDS.map((kind) => outcomeOf(add[kind](element, lease)));
    say({ element, outcomes: await Promise.all(updates) });
  } catch (error) {
    if (!(error instanceof LockError)) throw error; // the lock was lost before it had a token
  } finally {
    await lease.release();
  }
}

function say(report: SetWriterReport): void {
  process.send!(report);
}

async function onRedis(): Promise<[LockClient, SharedSets]> {
  const options = { connect: { host: '127.0.0.1', port: Number(connect) }, watchdogTimeout: 1_000 };
  return [await createRedisLockClient('writer', options), setsOnRedis(Number(server))];
}

async function onZooKeeper(): Promise<[LockClient, SharedSets]> {
  const client = await createZooKeeperLockClient('writer', {
    connect: `127.0.0.1:${connect}`,
    driver: 'wire',
    sessionTimeout: 1_500,
    tickTime: 500,
  });
  return [client, await setsOnZooKeeper(`127.0.0.1:${server}`)];
}
