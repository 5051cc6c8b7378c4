import type { Command, Commands } from './command.js';
import { hashCommands } from './commands/hashes.js';
import { keyCommands } from './commands/keys.js';
import { listCommands } from './commands/lists.js';
import { sortedSetCommands } from './commands/sorted-sets.js';
import { stringCommands } from './commands/strings.js';
import { fail } from './reply.js';

const COMMANDS: Commands = {
  ...stringCommands,
  ...hashCommands,
  ...listCommands,
  ...sortedSetCommands,
  ...keyCommands,
};

/** Commands of Redis that this library does not need, and guarded writes of users seldom. */
const NOT_SIMULATED = new Set([
  ...['sadd', 'scard', 'sismember', 'smembers', 'smismember', 'spop', 'srem'],
  ...['xadd', 'xdel', 'xlen', 'xrange', 'xtrim', 'getbit', 'setbit', 'pfadd'],
  ...['incrbyfloat', 'hincrbyfloat', 'getex', 'setrange', 'linsert'],
]);

/** @throws if there is no such command, or not with so many words */
export function commandOf(name: string, args: readonly string[], isOfScript = false): Command {
  const command = COMMANDS[name];
  if (NOT_SIMULATED.has(name)) fail(`ERR '${name}' is not simulated; test this on a real Redis`);
  if (command === undefined)
    fail(
      isOfScript
        ? 'ERR Unknown Redis command called from script'
        : `ERR unknown command '${name}', with args beginning with: `,
    );
  countWords(name, command.arity, args, isOfScript);
  return command;
}

/** @param arity how many words it has with its name; negative: at least so many @throws if there are others */
export function countWords(
  name: string,
  arity: number,
  args: readonly string[],
  isOfScript: boolean,
): void {
  const words = args.length + 1;
  if (arity > 0 ? words === arity : words >= -arity) return;
  fail(
    isOfScript
      ? 'ERR Wrong number of args calling Redis command from script'
      : `ERR wrong number of arguments for '${name}' command`,
  );
}
