// Takes permits of semaphores on Redis, and keeps them until it is ended.
// Arguments: the port, the lease in ms, then for each semaphore its key.
import { Redis } from 'ioredis';
import { createRedisLockClient } from '../../../lib/redis/create-redis-lock-client.js';

const [, , port, lease, ...keys] = process.argv;
const client = await createRedisLockClient('holder', {
  client: new Redis(Number(port)),
  watchdogTimeout: Number(lease),
});
await client.connect();
process.once('disconnect', () => process.exit());
const takeAll = async (key: string) => {
  const semaphore = client.semaphore(key, { permits: 3 });
  await Promise.all([semaphore.acquire({ permits: 2 }), semaphore.acquire()]);
};
await Promise.all(keys.map(takeAll));
process.send!('held');
