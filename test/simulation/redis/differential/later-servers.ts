import type { Keyspace } from '../../../../lib/testing/redis/server/keyspace.js';
import { textOf } from '../../../../lib/testing/redis/server/numbers.js';

/** Numbers that `%.17g` may write in another way than the shortest text that is read as the same number. */
const DOUBLE = /^-?(\d+\.\d+|\d{17,}|\d+(?=e))(e[+-]?\d+)?$/;

/** What Valkey says instead of what Redis says. */
const REWORDED: readonly (readonly [text: string, by: string])[] = [
  ['ERR Unknown Redis command called', 'ERR Unknown command called'],
  ['ERR Wrong number of args calling Redis command', 'ERR Wrong number of args calling command'],
  ['ERR Lua redis lib command arguments must', 'ERR Command arguments must'],
];

/**
 * The text in one wording, whether Redis 7.0 has it, which is simulated, or a later server: these write doubles as short as
 * possible, and Valkey has errors of its own, from version 9 on without the hash of the script.
 */
export function inOneWording(text: string): string {
  if (DOUBLE.test(text)) return textOf(Number(text));
  const wording = REWORDED.reduce((changed, [from, to]) => changed.replace(from, to), text);
  return wording.replace(/ script: [0-9a-f]{40}, on @/, ' script: on @');
}

/**
 * Whether a key ends in this very millisecond: Redis 7.0, 8.0 and Valkey have it until the next one, Redis 8.2 sometimes does
 * not.
 */
export function isEndOfKey(keyspace: Keyspace): boolean {
  const now = keyspace.now();
  return keyspace.keys.some((key) => keyspace.entry(key)!.expiresAt === now);
}
