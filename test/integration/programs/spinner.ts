// Asks a connection again and again without a pause, as careless code does: after it was closed. Says when a timer fires.
// Arguments: the connect string.
import { TestClient } from '../support/test-client.js';

const { connection, locks } = await TestClient.connect(process.argv[2]!);
await locks.close();
let isOver = false;
setTimeout(() => {
  isOver = true;
  process.send!('a timer fired');
  process.disconnect();
}, 50);
while (!isOver) await connection.exists('/').catch(() => {});
