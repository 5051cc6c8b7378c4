// Waits for a lock on Redis. Arguments: the port, the key, the lease in ms, `fair` or `writer`. Says when it waits.
import { Redis } from 'ioredis';
import { createRedisLockClient } from '../../../lib/redis/create-redis-lock-client.js';

const [, , port, key, lease, kind] = process.argv;
const client = await createRedisLockClient('waiter', {
  client: new Redis(Number(port)),
  watchdogTimeout: Number(lease),
});
await client.connect();
client.on('contended', () => process.send!('waiting'));
process.once('disconnect', () => process.exit());
const lock =
  kind === 'fair'
    ? client.mutex(key!, { fair: true })
    : client.readWriteLock(key!, { preferWriters: true }).writeLock();
await lock.acquire();
process.send!('held');
