// A process that acquires locks on several Redis servers that know nothing of each other; its commands are those of `main.ts`.
// Arguments: watchdog timeout of renewed leases in ms, then the URLs of the servers.
import { createRedLockClient } from '../../../lib/redis/red-lock/create-red-lock-client.js';
import { listen } from '../node/listen.js';
import { RedLockCommands } from './red-lock-commands.js';

const [watchdogTimeout, ...nodes] = process.argv.slice(2);
const client = await createRedLockClient('interop', {
  nodes,
  watchdogTimeout: Number(watchdogTimeout),
});
await client.connect();
console.log('ready');
await listen(() => new RedLockCommands(client));
process.exit(0); // waiting actors would keep it alive
