// Holds a lock of each kind on Redis, and blocks its event loop when it was asked to `block` it for so many ms: then it says
// which of the locks it knows to be lost, in the same turn. Asked to `end`, it ends its worker thread; asked for its `warnings`,
// it waits until there is one.
// Arguments: the options of the lock client as JSON, the prefix of the keys.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { createRedisLockClient } from '../../../lib/redis/create-redis-lock-client.js';
import { KINDS } from '../support/redis-kinds.js';

const threads: Worker[] = [];
const { unref } = Worker.prototype;
Worker.prototype.unref = function (this: Worker) {
  if (this.constructor === Worker) threads.push(this); // Node itself has others
  return unref.call(this);
};

const warnings: string[] = [];
process.on('warning', ({ message }) => warnings.push(message));

const [, , options, prefix] = process.argv;
const client = await createRedisLockClient('blocker', JSON.parse(options!) as object);
await client.connect();
process.once('disconnect', () => process.exit());
const held = await Promise.all(
  KINDS.map(async (kind) => {
    const lease = await kind.of(client, `${prefix} ${kind.name}`).acquire();
    return { name: kind.name, lease };
  }),
);

const lost = () => held.filter(({ lease }) => !lease.isHeld).map(({ name }) => name);
const orders: Record<string, (ms: number) => unknown> = {
  block(ms) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
    process.send!({ lost: lost(), threads: threads.length });
  },
  look: () => process.send!({ lost: lost(), threads: threads.length }),
  async release() {
    await Promise.all(held.map(({ lease }) => lease.release()));
    process.send!('released');
  },
  async end() {
    await Promise.all(threads.map((thread) => thread.terminate()));
    process.send!('ended');
  },
  async warnings() {
    while (warnings.length === 0) await once(process, 'warning');
    process.send!(warnings);
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
