import { LockKeyError, LockOptionsError } from '../errors/index.js';
import { NameMemory } from '../collections/name-memory.js';

/** Number of permits that one client declares for each semaphore. Other processes are not checked. */
export class DeclaredPermits {
  readonly #permits = new NameMemory<unknown>();

  /** @param remedy another way to change the number, as worded in messages */
  constructor(
    private readonly client: string,
    private readonly remedy: string,
  ) {}

  /**
   * @param name name of the semaphore on the servers
   * @throws LockOptionsError when another object of that semaphore has a different number of permits
   */
  claim(name: string, permits: unknown, key: string): void {
    const others = this.#permits.get(name) ?? permits;
    if (others !== permits)
      throw new LockOptionsError(
        'permits',
        permits,
        `the number that this client gives that semaphore elsewhere, or ${this.remedy}`,
        { key, client: this.client },
      );
    this.#permits.set(name, permits);
  }
}

/**
 * The kind of lock for which one client uses each name on the servers. Locks of different kinds do not exclude, or do not
 * wake, each other under one name, so a second kind is rejected while the first is remembered. Other processes are not
 * checked.
 */
export class KeyUses {
  readonly #kinds = new NameMemory<string>();

  constructor(private readonly client: string) {}

  /**
   * @param name name of the lock on the servers
   * @param kind kind of lock, as worded in messages
   * @param twin another name, of which the servers keep something in the same place
   * @throws LockKeyError when `name` is used for another kind, or its twin for any
   */
  claim(name: string, kind: string, key: string, twin?: string): void {
    const other = this.#kinds.get(name);
    if (other === kind) return;
    if (other !== undefined)
      throw new LockKeyError(
        key,
        `this client already uses ${name} for a ${other}, and a ${kind} cannot share that name; give each lock a key of its own`,
        { client: this.client },
      );
    if (twin !== undefined && this.#kinds.get(twin) !== undefined)
      throw new LockKeyError(
        key,
        `this client already uses ${twin}, and on the server both have one queue and the same permits; use only one of them`,
        { client: this.client },
      );
    this.#kinds.set(name, kind);
  }
}
