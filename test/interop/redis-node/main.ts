// A process that acquires locks on Redis with this library on commands from standard input, one per line, and answers on
// standard output, one line each. Arguments: watchdog timeout of renewed leases in ms, then the URL of one server, or those
// of several nodes of a cluster. It ends with its input.
import { Cluster, Redis } from 'ioredis';
import { createRedisLockClient } from '../../../lib/redis/create-redis-lock-client.js';
import { listen } from '../node/listen.js';
import { RedisCommands } from './redis-commands.js';

const [watchdogTimeout, ...urls] = process.argv.slice(2);
const client =
  urls.length === 1 ? new Redis(urls[0]!) : new Cluster(urls, { shardedSubscribers: true });
const locks = await createRedisLockClient('interop', {
  client,
  watchdogTimeout: Number(watchdogTimeout),
});
await locks.connect();
console.log('ready');
await listen(() => new RedisCommands(locks));
process.exit(0); // waiting actors would keep it alive
