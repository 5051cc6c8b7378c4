import { setTimeout as delay } from 'node:timers/promises';
import { createRedisLockClient } from '../../../lib/redis/create-redis-lock-client.js';
import type { RedisServer } from '../../support/redis-server.js';
import { row, type Row } from '../row.js';

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
