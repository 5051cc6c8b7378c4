import { multiLockRelease } from '../scripts/multi-lock-release.js';
import type { LockCommand } from './lock-commands.js';
import type { RecipeContext } from './recipe-context.js';

/**
 * Gives locks that were taken with one script back with one script: those that are released in the same turn of the event
 * loop, as their multi-lock does. It is sent at the end of that turn.
 */
export class TogetherRelease {
  #keys: string[] = [];
  #until = -Infinity;
  #sent?: Promise<undefined>;

  constructor(private readonly context: RecipeContext) {}

  /** As `GuaranteedRelease.run`; resolves to `undefined`, as nobody knows who listened to which of them. */
  run({ keys, args }: LockCommand, until: number): Promise<undefined> {
    this.#keys.push(...keys);
    this.#until = Math.max(this.#until, until);
    this.#sent ??= Promise.resolve().then(() => this.#send(args));
    return this.#sent;
  }

  async #send(args: LockCommand['args']): Promise<undefined> {
    const command = { script: multiLockRelease, keys: this.#keys, args };
    this.#keys = [];
    this.#sent = undefined;
    await this.context.releases.run(command, this.#until);
  }
}
