// A process that takes locks with this library as it is told on standard input, one command a line, and answers on standard
// output, one line each. Arguments: connect string, session timeout in ms. It ends with its input.
import { createInterface } from 'node:readline';
import { TestClient } from '../../integration/support/test-client.js';
import { Commands } from './commands.js';
import { Locks } from './locks.js';

const [connect, sessionTimeout] = process.argv.slice(2);
const client = await TestClient.connect(connect!, { sessionTimeout: Number(sessionTimeout) });
const locks = new Locks(client.locks);
/** Each actor does its commands one after the other. */
const actors = new Map<string, { readonly commands: Commands; last: Promise<void> }>();
console.log('ready');

for await (const line of createInterface({ input: process.stdin })) {
  const [name, ...words] = line.split(' ');
  const actor = actors.get(name!) ?? {
    commands: new Commands(client, locks),
    last: Promise.resolve(),
  };
  actors.set(name!, actor);
  actor.last = actor.last.then(async () => console.log(name, await answer(actor.commands, words)));
}
process.exit(0); // waiting actors would keep it alive

async function answer(commands: Commands, words: readonly string[]): Promise<string> {
  try {
    return `ok ${await commands.run(words)}`;
  } catch (error) {
    return `error ${String(error).replaceAll('\n', ' ')}`;
  }
}
