// The process that waits. Told the name of a library, it says that it goes to wait for the lock `between`, and when it was
// granted; told `floor`, it waits for a message, and says when one script has run after that. Argument: the URL of the server.
import { Redis } from 'ioredis';
import { createRedisLockClient } from '../../../lib/redis/create-redis-lock-client.js';
import { BareLocks, sendBy } from './bare-locks.js';
import { type Library, ourLibrary, peerLibraries } from './libraries.js';

const url = process.argv[2]!;
const connections: Redis[] = [];
const connect = () => {
  const connection = new Redis(url);
  connections.push(connection);
  return connection;
};
const client = await createRedisLockClient('waiter', { connect: url });
await client.connect();
const libraries: Record<string, Library> = {
  ours: ourLibrary(client),
  ...peerLibraries(() => [connect()]),
};
const bare = (await BareLocks.on(sendBy(connect()))).lockOn('bare');
const subscriber = connect();
await subscriber.subscribe('floor');

process.on('message', (who: string) => void wait(who));
process.on('disconnect', () => {
  for (const connection of connections) connection.disconnect();
  void client.close();
});
process.send!('ready');

async function wait(who: string): Promise<void> {
  process.send!('waiting');
  if (who === 'floor') await new Promise((resolve) => subscriber.once('message', resolve));
  const acquire = who === 'floor' ? bare : libraries[who]!.lock('between');
  const release = await acquire();
  process.send!(process.hrtime.bigint().toString());
  await release();
}
