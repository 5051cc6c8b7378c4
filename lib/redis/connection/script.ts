import { createHash } from 'node:crypto';

/** The answer of a script, none of which has texts: a client with ioredis' `stringNumbers` has made texts of its numbers. */
export function parseNumbers(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.every(isNumber) ? answer : answer.map(parseNumbers);
  return typeof answer === 'string' ? Number(answer) : answer;
}

const isNumber = (value: unknown) => typeof value === 'number';

/** A Lua script, by the name of its file. */
export class Script {
  /** What the servers know it by. */
  readonly sha1: string;

  constructor(
    readonly name: string,
    readonly source: string,
  ) {
    this.sha1 = createHash('sha1').update(source).digest('hex');
  }
}
