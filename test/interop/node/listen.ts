import { createInterface } from 'node:readline';

/** An owner of locks. */
export interface CommandedActor {
  /**
   * @param words the command and its arguments
   * @returns the answer, a single line
   */
  run(words: readonly string[]): Promise<string>;
}

/**
 * Passes the commands on standard input to the actors, one command per line, and answers on standard output, one line each. An
 * actor executes its commands one after the other. Resolves when the input ends.
 */
export async function listen(makeActor: () => CommandedActor): Promise<void> {
  const actors = new Map<string, { readonly actor: CommandedActor; last: Promise<void> }>();
  for await (const line of createInterface({ input: process.stdin })) {
    const [name, ...words] = line.split(' ');
    const known = actors.get(name!) ?? { actor: makeActor(), last: Promise.resolve() };
    actors.set(name!, known);
    known.last = known.last.then(async () => console.log(name, await answer(known.actor, words)));
  }
}

async function answer(actor: CommandedActor, words: readonly string[]): Promise<string> {
  try {
    return `ok ${await actor.run(words)}`;
  } catch (error) {
    return `error ${String(error).replaceAll('\n', ' ')}`;
  }
}
