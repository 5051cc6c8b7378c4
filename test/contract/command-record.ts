import type { Cluster, Redis } from 'ioredis';
import { lockRenew } from '../../lib/redis/scripts/index.js';

const OWNER = /^([0-9a-f-]{36}):\d+/;

type Command = readonly (string | number)[];

/** Writes down what is sent by an ioredis client. */
export class CommandRecord {
  readonly #commands: Command[] = [];

  constructor(redis: Redis | Cluster) {
    const call = redis.call.bind(redis) as (...command: Command) => Promise<unknown>;
    const record = (...command: Command) => {
      this.#commands.push(command);
      return call(...command);
    };
    Object.assign(redis, { call: record });
  }

  /** The scripts so far, but for renewals. */
  get requests(): readonly Command[] {
    const isScript = (name: unknown) => name === 'evalsha' || name === 'eval';
    const isRenewal = (script: unknown) => script === lockRenew.sha1 || script === lockRenew.source;
    return this.#commands.filter(([name, script]) => isScript(name) && !isRenewal(script));
  }

  /** What the names of the owners begin with that it was sent for; none before the first. */
  get owner(): string | undefined {
    const names = this.requests.flat().map((part) => OWNER.exec(`${part}`)?.[1]);
    return names.find((name) => name !== undefined);
  }
}
