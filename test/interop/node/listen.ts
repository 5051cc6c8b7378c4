import { createInterface } from 'node:readline';
import { LockTimeoutError } from '../../../lib/core/errors/index.js';
import type { Lease } from '../../../lib/core/lease.js';
import type { Wait } from '../../../lib/core/lock.js';

/** What is done on each command, with its arguments; the answer is what that resolves to, as a single line. */
export type Commands = Readonly<Record<string, (...words: string[]) => unknown>>;

/** An owner of locks: the commands about whatever has that specification, the first argument of each. */
export type CommandedActor = (specification: string) => Commands;

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
  const [command = '', specification = '', ...others] = words;
  try {
    const run = actor(specification)[command];
    if (!run) throw new Error(`No such command: ${command} ${specification}`);
    return `ok ${String(await run(...others))}`;
  } catch (error) {
    return `error ${String(error).replaceAll('\n', ' ')}`;
  }
}

/** The wait given by a command: in ms, below 0 forever. */
export function waitOf(word: string | undefined): Wait {
  const wait = Number(word);
  return wait < 0 ? 'forever' : wait;
}

/** Whether it was granted before the wait was over. */
export async function isGranted(wait: Promise<unknown>): Promise<boolean> {
  try {
    await wait;
    return true;
  } catch (error) {
    if (error instanceof LockTimeoutError) return false;
    throw error;
  }
}

/** What one actor holds, by the specifications of the locks. */
export class HeldLeases {
  /** The innermost lease last. */
  private readonly held: { readonly lock: string; readonly lease: Lease }[] = [];

  /** Acquires the lock in the scope of the leases that it holds, as a thread in Java does. */
  async acquire(
    lock: string,
    acquire: () => Promise<Lease | undefined>,
  ): Promise<'granted' | 'timeout'> {
    const inside = this.held.reduceRight(
      (inner, { lease }) =>
        () =>
          lease.run(inner),
      acquire,
    );
    const attempt = inside();
    if (!(await isGranted(attempt))) return 'timeout';
    const lease = await attempt;
    if (!lease) return 'timeout';
    this.held.push({ lock, lease });
    return 'granted';
  }

  /** The innermost lease of that lock. */
  of(lock: string): Lease {
    return this.find(lock).lease;
  }

  /** Releases the most recently acquired lease of that lock. */
  async release(lock: string): Promise<void> {
    const found = this.find(lock);
    this.held.splice(this.held.indexOf(found), 1);
    await found.lease.release();
  }

  private find(lock: string) {
    const found = this.held.findLast((one) => one.lock === lock);
    if (!found) throw new Error(`Not held: ${lock}`);
    return found;
  }
}
