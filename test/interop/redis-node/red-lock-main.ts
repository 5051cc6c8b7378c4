// A process that takes locks on several Redis servers, none of which knows of the others; it is told as `main.ts` is.
// Arguments: how long renewed leases last at a time in ms, then the URLs of the servers.
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
