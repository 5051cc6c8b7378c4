import { createHash } from 'node:crypto';
import type { RedisArgument } from './ioredis.js';

/** A Lua script, named after its file. */
export class Script {
  /** Digest by which the servers know the script. */
  readonly sha1: string;

  constructor(
    readonly name: string,
    readonly source: string,
  ) {
    this.sha1 = createHash('sha1').update(source).digest('hex');
  }
}

/** Parses the reply of a script: ioredis' `stringNumbers` turns numbers into strings. Other strings remain. */
export function parseNumbers(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.every(isNumber) ? answer : answer.map(parseNumbers);
  return typeof answer === 'string' && /^-?\d+$/.test(answer) ? Number(answer) : answer;
}

const isNumber = (value: unknown) => typeof value === 'number';

/** The operands of a command that runs a script, given by its source or its digest. */
export function operands(
  script: string,
  keys: readonly string[],
  args: readonly RedisArgument[],
): RedisArgument[] {
  return [script, keys.length as RedisArgument].concat(keys, args);
}
