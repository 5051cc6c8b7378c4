// The process that waits: `acquire` queues for the lock, `watch` sets a bare watch; both tell when they were woken.
import { createZooKeeperLockClient } from '../../lib/zookeeper/create-zookeeper-lock-client.js';
import { BareDriver } from './bare-driver.js';

const connectString = process.argv[2]!;
const client = await createZooKeeperLockClient('peer', { connect: connectString });
await client.connect();
const bare = await BareDriver.connect(connectString);
const mutex = client.mutex('hand-off');
client.on('contended', () => void untilQueued());

/** The waiter's two watches follow its `contended` at once; an answer that is sent after them tells that they are set. */
async function untilQueued(): Promise<void> {
  await mutex.participants();
  await mutex.participants();
  process.send!('waiting');
}

process.on('message', ({ acquire, watch }: { acquire?: boolean; watch?: string }) => {
  if (acquire)
    void mutex.acquire().then((lease) => {
      process.send!({ wokenAt: process.hrtime.bigint().toString() });
      return lease.release();
    });
  else if (watch)
    void bare
      .watch(watch, () => process.send!({ wokenAt: process.hrtime.bigint().toString() }))
      .then(() => process.send!('waiting'));
});
process.on('disconnect', () => {
  bare.close();
  void client.close();
});
process.send!('ready');
