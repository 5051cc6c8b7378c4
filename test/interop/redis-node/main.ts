// A process that acquires locks on Redis with this library on commands from standard input, one per line, and answers on
// standard output, one line each. Arguments: `locks`, or `redLock` where the servers know nothing of each other; the driver;
// watchdog timeout of renewed leases in ms; then the URL of the server, or those of several nodes of the cluster or of the
// independent servers. It ends with its input.
import type { RedisDriver } from '../../../lib/redis/drivers.js';
import { createRedLockClient } from '../../../lib/redis/red-lock/create-red-lock-client.js';
import { createRedisLockClient } from '../../../lib/redis/create-redis-lock-client.js';
import { type CommandedActor, listen } from '../node/listen.js';
import { redisActor, redLockActor } from './commands.js';

const [kind, by, watchdog, ...urls] = process.argv.slice(2);
const driver = by as RedisDriver;
const watchdogTimeout = Number(watchdog);
const makeActor = await (kind === 'redLock' ? onIndependentServers() : onOneServerOrCluster());
console.log('ready');
await listen(makeActor);
process.exit(0); // waiting actors would keep it alive

async function onOneServerOrCluster(): Promise<() => CommandedActor> {
  const where = urls.length === 1 ? { connect: urls[0] } : { cluster: { nodes: urls } };
  const locks = await createRedisLockClient('interop', { ...where, driver, watchdogTimeout });
  await locks.connect();
  return () => redisActor(locks);
}

async function onIndependentServers(): Promise<() => CommandedActor> {
  const locks = await createRedLockClient('interop', { nodes: urls, driver, watchdogTimeout });
  await locks.connect();
  return () => redLockActor(locks);
}
