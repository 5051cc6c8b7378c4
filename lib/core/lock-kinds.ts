import { LockKeyError } from './errors/index.js';

/** Names remembered; the oldest is forgotten first. */
const CAPACITY = 10_000;

/**
 * What one client uses each name on the servers for. Locks of different kinds do not exclude, or do not wake, each other
 * under one name; so the second kind is refused, as far as it is remembered. Other processes are not looked at.
 */
export class LockKinds {
  readonly #kinds = new Map<string, string>();

  constructor(private readonly client: string) {}

  /**
   * @param name of the lock on the servers
   * @param kind as it stands in messages
   * @throws LockKeyError when `name` is used for another kind
   */
  claim(name: string, kind: string, key: string): void {
    const other = this.#kinds.get(name);
    if (other === kind) return;
    if (other !== undefined)
      throw new LockKeyError(
        key,
        `this client uses ${name} for a ${other}, and a ${kind} does not go together with that; give each lock a key of its own`,
        { client: this.client },
      );
    this.#kinds.set(name, kind);
    const [eldest] = this.#kinds.keys();
    if (this.#kinds.size > CAPACITY) this.#kinds.delete(eldest!);
  }
}
