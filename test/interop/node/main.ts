// A process that acquires locks with this library on commands from standard input, one per line, and answers on standard
// output, one line each. Arguments: connect string, session timeout in ms. It ends with its input.
import { TestClient } from '../../faults/support/test-client.js';
import { Locks, zooKeeperActor } from './commands.js';
import { listen } from './listen.js';
import { Recipes } from './recipes.js';

const [connect, sessionTimeout] = process.argv.slice(2);
const client = await TestClient.connect(connect!, { sessionTimeout: Number(sessionTimeout) });
const locks = new Locks(client.locks);
const recipes = new Recipes(client.locks);
console.log('ready');
await listen(() => zooKeeperActor(client, locks, recipes));
process.exit(0); // waiting actors would keep it alive
