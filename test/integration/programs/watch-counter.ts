// Sets many watches, each with something to remember, and takes them off or lets them fire. Run with --expose-gc.
// Arguments: the connect string. Says by how many bytes the heap grew.
import { CreateMode } from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { TestClient } from '../support/test-client.js';

const ROUNDS = 5_000;
const { connection, locks } = await TestClient.connect(process.argv[2]!);
const collect = (globalThis as { gc?: () => void }).gc!;

async function watch(rounds: number): Promise<void> {
  for (let n = 0; n < rounds; n++) {
    const [fired, unwanted] = [remembering(), remembering()];
    await Promise.all([
      connection.exists('/watched', fired),
      connection.getChildren('/', unwanted),
      connection.create('/watched', Buffer.alloc(0), CreateMode.EPHEMERAL),
      connection.delete('/watched'),
    ]);
    connection.unwatch('/', unwanted);
  }
}

function remembering(): () => void {
  const memory = new Array<number>(100).fill(1);
  return () => void memory.pop();
}

await watch(500);
collect();
const before = process.memoryUsage().heapUsed;
await watch(ROUNDS);
collect();
process.send!({ perWatch: (process.memoryUsage().heapUsed - before) / (2 * ROUNDS) });
await locks.close();
process.disconnect();
