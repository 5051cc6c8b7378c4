// Takes locks and keeps them until it is killed; reports whether each was granted or has to wait.
// Arguments: options of the client as JSON, the key, the kind of lock: 'fair', 'read' or 'write', the number of acquires.
import { createRedisLockClient } from '../../../../lib/redis/create-redis-lock-client.js';

const [, , options, key, kind, count] = process.argv;
const client = await createRedisLockClient('process', JSON.parse(options!));
await client.connect();
client.on('contended', () => process.send!('waiting'));
process.once('disconnect', () => process.exit());

const lock = {
  fair: () => client.mutex(key!, { fair: true }),
  read: () => client.readWriteLock(key!).readLock(),
  write: () => client.readWriteLock(key!, { preferWriters: true }).writeLock(),
}[kind as 'fair' | 'read' | 'write']();
for (let n = 0; n < Number(count); n++) void lock.acquire().then(() => process.send!('held'));
