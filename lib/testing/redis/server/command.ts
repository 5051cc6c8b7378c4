import type { Keyspace } from './keyspace.js';
import type { Reply } from './reply.js';

/** A command of the keyspace. */
export interface Command {
  /** How many words it has with its name; negative: at least so many. */
  readonly arity: number;
  /** `write`: not on a replica; `grow`: also not on a server without memory. */
  readonly effect?: 'write' | 'grow';
  run(keyspace: Keyspace, args: readonly string[]): Reply;
}

export type Commands = Readonly<Record<string, Command>>;
