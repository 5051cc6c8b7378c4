// Takes a lock, then, on demand, blocks its event loop for longer than its session may last.
// Arguments: the connect string, the key, the session timeout. Says what it knows of its lease, before any event came.
import { LockLostError } from '../../../lib/core/errors/index.js';
import { TestClient } from '../support/test-client.js';

const [, , connectString, key, sessionTimeout] = process.argv;
const client = await TestClient.connect(connectString!, { sessionTimeout: Number(sessionTimeout) });
const lease = await client.locks.mutex(key!).acquire();
const { signal } = lease;
process.once('disconnect', () => process.exit());
process.once('message', () => {
  const start = performance.now();
  while (performance.now() - start < 1.5 * client.connection.session!.timeout);
  const isHeld = lease.isHeld;
  const isAborted = signal.aborted;
  const isLost = signal.reason instanceof LockLostError;
  process.send!({ isHeld, isAborted, isLost });
});
process.send!('held');
