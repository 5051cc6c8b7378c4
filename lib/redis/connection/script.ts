import { createHash } from 'node:crypto';

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
