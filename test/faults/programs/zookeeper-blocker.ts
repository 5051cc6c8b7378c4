// Holds a mutex, a read lock and a permit on ZooKeeper, and blocks its event loop when it was asked to `block` it for so many ms: then
// it says which of them it knows to be lost, in the same turn. Ends its worker thread when asked to `end` it.
// Arguments: the options of the lock client as JSON, the prefix of the keys.
import { Worker } from 'node:worker_threads';
import { createZooKeeperLockClient } from '../../../lib/zookeeper/create-zookeeper-lock-client.js';
import type { ZooKeeperLockOptions } from '../../../lib/zookeeper/zookeeper-options.js';

const threads: Worker[] = [];
const { unref } = Worker.prototype;
Worker.prototype.unref = function (this: Worker) {
  if (this.constructor === Worker) threads.push(this); // Node itself has others
  return unref.call(this);
};

const [, , options, prefix] = process.argv;
const client = await createZooKeeperLockClient(
  'blocker',
  JSON.parse(options!) as ZooKeeperLockOptions,
);
await client.connect();
process.once('disconnect', () => process.exit());
const held = [
  await client.mutex(`${prefix}-mutex`).acquire(),
  await client.readWriteLock(`${prefix}-shelf`).readLock().acquire(),
  await client.semaphore(`${prefix}-pool`, { permits: 1 }).acquire(),
];

const report = () => ({
  lost: held.filter(({ isHeld }) => !isHeld).length,
  threads: threads.length,
  session: client.status().sessionId,
});
const orders: Record<string, (ms: number) => unknown> = {
  block(ms) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
    process.send!(report());
  },
  look: () => process.send!(report()),
  async release() {
    await Promise.all(held.map((lease) => lease.release()));
    process.send!('released');
  },
  async end() {
    await Promise.all(threads.map((thread) => thread.terminate()));
    process.send!('ended');
  },
  async close() {
    await client.close();
    process.send!('closed');
    process.disconnect();
  },
};
process.on('message', (text: string) => {
  const [order, ms] = text.split(' ');
  void orders[order!]!(Number(ms));
});
process.send!('held');
