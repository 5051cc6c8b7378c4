// A process with a lock client on ZooKeeper in one of these situations; whether it ends by itself is for others to see.
// `closing`: holds a lock and waits for it; asked to, it closes. Says the states of its connection, each once.
// `unreachable`: connects in vain, and says what it is told of that.
// `blocked`: takes a lock, then, asked to, blocks its event loop for longer than its session may last. Says what it knows of
// its lease before any event came.
// `spinning`: asks a connection that was closed again and again without a pause. Says when a timer fires.
// `watching`: sets many watches, each with something to remember, and takes them off or lets them fire. Says by how many
// bytes the heap grew for each; run with --expose-gc.
// Arguments: the situation, the connect string, a key.
import { LockConnectionError, LockLostError } from '../../../lib/core/errors/index.js';
import { CreateMode } from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { createZooKeeperLockClient } from '../../../lib/zookeeper/create-zookeeper-lock-client.js';
import { TestClient } from '../support/test-client.js';

const [, , situation, connect, key] = process.argv;
const asked = () => new Promise((resolve) => process.once('message', resolve));

const situations: Record<string, () => Promise<void>> = {
  async closing() {
    const client = await createLeaver();
    await client.connect();
    const lease = await client.mutex(key!).acquire();
    void client
      .mutex(key!)
      .acquire()
      .catch(() => {});
    const states = new Set<string>();
    client.on('connection', ({ state }) => {
      if (!states.has(state)) process.send!(state);
      states.add(state);
    });
    process.send!('held');
    await asked();
    await client.close(1_000);
    process.send!({ isHeld: lease.isHeld });
  },

  async unreachable() {
    const client = await createLeaver();
    const start = performance.now();
    const error: unknown = await client.connect().catch((reason: unknown) => reason);
    process.send!({
      isTyped: error instanceof LockConnectionError,
      message: (error as Error).message,
      after: performance.now() - start,
    });
  },

  async blocked() {
    const client = await TestClient.connect(connect!, { sessionTimeout: 2_000 });
    const lease = await client.locks.mutex(key!).acquire();
    const { signal } = lease;
    process.send!('held');
    await asked();
    const start = performance.now();
    while (performance.now() - start < 1.5 * client.connection.session!.timeout);
    const isHeld = lease.isHeld;
    const isAborted = signal.aborted;
    const isLost = signal.reason instanceof LockLostError;
    process.send!({ isHeld, isAborted, isLost });
    await client.locks.close();
  },

  async spinning() {
    const { connection, locks } = await TestClient.connect(connect!);
    await locks.close();
    let isOver = false;
    setTimeout(() => {
      isOver = true;
      process.send!('a timer fired');
    }, 50);
    while (!isOver) await connection.exists('/').catch(() => {});
  },

  async watching() {
    const rounds = 1_000;
    const { locks, connection } = await TestClient.connect(connect!);
    const watch = async (times: number) => {
      for (let n = 0; n < times; n++) {
        const [fired, unwanted] = [remembering(), remembering()];
        await Promise.all([
          connection.exists('/watched', fired),
          connection.getChildren('/zookeeper', unwanted),
          connection.create('/watched', Buffer.alloc(0), CreateMode.EPHEMERAL),
          connection.delete('/watched'),
        ]);
        connection.unwatch('/zookeeper', unwanted);
      }
    };
    await watch(500);
    globalThis.gc!();
    const before = process.memoryUsage().heapUsed;
    await watch(rounds);
    globalThis.gc!();
    process.send!({ perWatch: (process.memoryUsage().heapUsed - before) / (2 * rounds) });
    await locks.close();
  },
};

process.once('disconnect', () => process.exit());
await situations[situation!]!();
process.removeAllListeners('disconnect');
process.disconnect();

function createLeaver() {
  const timeouts = { sessionTimeout: 3_000, connectTimeout: 1_000 };
  return createZooKeeperLockClient('leaver', { connect: connect!, ...timeouts });
}

function remembering(): () => void {
  const memory = new Array<number>(1_000).fill(1);
  return () => void memory.pop();
}
