import { lockRelease } from '../scripts/lock-release.js';
import type { LockCommand } from './lock-commands.js';
import type { RecipeContext } from './recipe-context.js';

/**
 * Gives locks that were taken with one script back with one script: those that are released in the same turn of the event
 * loop, as their multi-lock does. It is sent at the end of that turn.
 */
export class TogetherRelease {
  #keys: string[] = [];
  #each: LockCommand['args'][number][] = [];
  #until = -Infinity;
  #sent?: Promise<undefined>;

  constructor(private readonly context: RecipeContext) {}

  /** As `GuaranteedRelease.run`; resolves to `undefined`, as it is not known which of them had listeners. */
  run({ keys, args: [holder, publish, ...each] }: LockCommand, until: number): Promise<undefined> {
    this.#keys.push(...keys);
    this.#each.push(...each);
    this.#until = Math.max(this.#until, until);
    this.#sent ??= Promise.resolve().then(() => this.#send([holder!, publish!]));
    return this.#sent;
  }

  async #send(common: LockCommand['args']): Promise<undefined> {
    const command = { script: lockRelease, keys: this.#keys, args: [...common, ...this.#each] };
    this.#keys = [];
    this.#each = [];
    this.#sent = undefined;
    await this.context.releases.run(() => command, this.#until);
  }
}
