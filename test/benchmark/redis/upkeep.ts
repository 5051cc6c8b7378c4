import { setTimeout as delay } from 'node:timers/promises';
import { createRedisLockClient } from '../../../lib/redis/create-redis-lock-client.js';
import { eventually } from '../../support/time.js';
import type { RedisServer } from '../../support/redis-server.js';
import { row, type Row } from '../row.js';

const DEAD = 8_000;
/** How long one call may keep the server from answering anybody else, in ms. */
const TARGET = 20;
const KEY = 'pods died';

/** So many waiters that are known to be dead, as pods leave them that are killed. */
const SEED = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 1, tonumber(ARGV[1]) do
  local waiter = 'b983c153-7421-469a-addb-44fb92259a1b:' .. i
  redis.call('RPUSH', KEYS[1], waiter)
  redis.call('ZADD', KEYS[2], now + i * 300000, waiter)
  redis.call('ZADD', KEYS[3], now, waiter)
end
`;

/** What it costs the server that many waiters of a fair lock have died together. */
export async function deadWaiters(server: RedisServer): Promise<Row[]> {
  const client = await createRedisLockClient('survivor', { connect: server.url });
  await client.connect();
  const keys = ['redisson_lock_queue', 'redisson_lock_timeout', 'interlock_alive'].map(
    (prefix) => `${prefix}:{${KEY}}`,
  );
  await server.command('EVAL', SEED, keys.length, ...keys, DEAD);
  await server.command('CONFIG', 'SET', 'slowlog-log-slower-than', 0, 'slowlog-max-len', 1_000);
  await server.command('SLOWLOG', 'RESET');
  const lease = await client.mutex(KEY, { fair: true }).acquire();
  await eventually('the dead are out', async () => (await server.command('LLEN', keys[0]!)) === 0);
  const entries = (await server.command('SLOWLOG', 'GET', -1)) as [
    number,
    number,
    number,
    string[],
  ][];
  await server.command('CONFIG', 'SET', 'slowlog-log-slower-than', 10_000, 'slowlog-max-len', 128);
  const took = entries.filter(([, , , [name]]) => /^eval/i.test(name!)).map(([, , us]) => us);
  await lease.release();
  await client.close();
  const name = `fair lock, ${DEAD} dead waiters`;
  return [
    row(`${name}, longest call`, 'ms', Math.max(...took) / 1_000, null, TARGET),
    row(`${name}, calls`, 'calls', took.length, null),
  ];
}

const LOCKS = 10_000;
/** In ms; a third of the default, and so the renewals three times as many. */
const WATCHDOG_TIMEOUT = 10_000;
const MEASURED = 10_000;

/** What it costs to keep many locks for long: at rest, all of them held and renewed. */
export async function renewals(server: RedisServer): Promise<Row[]> {
  const client = await createRedisLockClient('holder', {
    connect: server.url,
    watchdogTimeout: WATCHDOG_TIMEOUT,
  });
  await client.connect();
  const keys = Array.from({ length: LOCKS }, (_, i) => `held ${i}`);
  const leases = await Promise.all(keys.map((key) => client.mutex(key).acquire()));
  await delay(WATCHDOG_TIMEOUT / 3); // so that all were renewed before

  await server.command('CONFIG', 'RESETSTAT');
  const cpu = process.cpuUsage();
  await delay(MEASURED);
  const { user, system } = process.cpuUsage(cpu);
  const stats = String(await server.command('INFO', 'commandstats'));
  const commands = Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1]);
  const lost = leases.filter(({ isHeld }) => !isHeld).length;
  await client.close();

  const seconds = MEASURED / 1_000;
  const name = `${LOCKS} locks held, leases of ${WATCHDOG_TIMEOUT / 1_000} s`;
  return [
    row(`${name}, CPU of this process`, '%', (user + system) / 10_000 / seconds, null),
    row(`${name}, commands`, '1/s', commands / seconds, null),
    row(`${name}, lost`, 'locks', lost, null, 0),
  ];
}
