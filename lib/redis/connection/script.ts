import { createHash } from 'node:crypto';

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
