// Takes a lock for 50 ms on every command, and reports when it waits for it and when it has released it.
// Arguments: the URL of the server, the key.
import { setTimeout as delay } from 'node:timers/promises';
import { createRedisLockClient } from '../../../../lib/redis/create-redis-lock-client.js';

const [, , connect, key] = process.argv;
const client = await createRedisLockClient('contender', { connect });
await client.connect();
client.on('contended', () => process.send!('waiting'));
process.on('message', () => void contend());
process.on('disconnect', () => void client.close());
process.send!('connected');

async function contend(): Promise<void> {
  await client.mutex(key!).using(() => delay(50));
  process.send!('done');
}
