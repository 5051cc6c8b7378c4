import { createClient } from 'redis';
import { createRedisLockClient } from '../../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import { alternately, mediansOf } from '../measuring.js';
import { row, type Row } from '../row.js';
import { BareLocks } from './bare-locks.js';
import { NodeContestant } from './contestants.js';
import { ourLibrary } from './libraries.js';

const FLOOR_TARGET = 1.25;
const ROUNDS = { rounds: 40, warmUp: 20 };

/** Locks by node-redis, and the floor by the same package. */
export class ByNodeRedis {
  private constructor(
    readonly client: RedisLockClient,
    readonly bare: BareLocks,
    readonly close: () => Promise<unknown>,
  ) {}

  static async on(url: string): Promise<ByNodeRedis> {
    const user = createClient({ url });
    await user.connect();
    const client = await createRedisLockClient('node-redis', { client: user });
    await client.connect();
    const bare = await BareLocks.on((...words) => user.sendCommand(words.map(String)));
    return new ByNodeRedis(client, bare, () => Promise.all([client.close(), user.close()]));
  }
}

/** Acquire + release of uncontended locks, by node-redis. */
export async function byNodeRedis({ client, bare }: ByNodeRedis): Promise<Row[]> {
  const contestants = {
    ours: new NodeContestant((key) => ourLibrary(client).lock(`node-redis ${key}`)),
    floor: new NodeContestant((key) => bare.lockOn(`floor of node-redis ${key}`)),
  };
  const rows: Row[] = [];
  for (const lanes of [1, 10, 100]) {
    const count = lanes === 1 ? 200 : 1_000;
    const measured = await alternately(
      contestants,
      (contestant) => contestant.cycles({ keys: lanes, lanes, count }),
      ROUNDS,
    );
    const rates = mediansOf(measured, ({ took }) => count / (took / 1_000));
    const name = `by node-redis, ${lanes} in flight, cycles`;
    rows.push(row(name, '1/s', rates.ours!, rates.floor!, FLOOR_TARGET, true));
  }
  return rows;
}
