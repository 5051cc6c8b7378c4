// Closes its lock client in one of the situations below; whether the process ends by itself is for others to see.
// Arguments: the situation, the connect string. Says the states of its connection, each once.
import { LockConnectionError } from '../../../lib/core/errors/index.js';
import { createZooKeeperLockClient } from '../../../lib/zookeeper/create-zookeeper-lock-client.js';

const [, , situation, connect] = process.argv;
const client = await createZooKeeperLockClient('leaver', {
  connect: connect!,
  sessionTimeout: 3_000,
  connectTimeout: 1_000,
});

if (situation === 'unreachable') {
  const start = performance.now();
  const error: unknown = await client.connect().catch((reason: unknown) => reason);
  process.send!({
    isTyped: error instanceof LockConnectionError,
    message: (error as Error).message,
    after: performance.now() - start,
  });
} else {
  await client.connect();
  const lease = await client.mutex('leaver').acquire();
  void client
    .mutex('leaver')
    .acquire()
    .catch(() => {});
  const states = new Set<string>();
  client.on('connection', ({ state }) => {
    if (!states.has(state)) process.send!(state);
    states.add(state);
  });
  process.send!('held');
  await new Promise((resolve) => process.once('message', resolve));
  await client.close(1_000);
  process.send!({ isHeld: lease.isHeld });
}
process.disconnect();
