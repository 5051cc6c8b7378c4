// Holds a lock, says so, and when asked to waits for another one inside of it. Says when it begins to wait, which deadlock it is
// notified of, and how the wait has ended. Arguments: the options of its client in JSON; the first key and the second; the method.
import { once } from 'node:events';
import { createLockClient } from '../../../lib/standalone/create-lock-client.js';
import type { LockClientOptions } from '../../../lib/standalone/index.js';

const [options, outer, inner, method] = process.argv.slice(2) as [string, string, string, string];
const client = await createLockClient(JSON.parse(options) as LockClientOptions);
client.on('contended', () => process.send!({ waitsSince: Date.now() }));
client.on('deadlock', ({ error: { circle } }) => process.send!({ named: circle, at: Date.now() }));

const nested = client.mutex(outer).using(
  async () => {
    process.send!('held');
    await once(process, 'message');
    await client.mutex(inner).using(() => {}, { method });
  },
  { method },
);
const outcome = await nested.then(
  () => 'granted',
  (error: { code: string }) => error.code,
);
process.send!({ outcome });
await client.close();
process.disconnect();
