import { LockOptionsError } from '../../core/errors/index.js';
import { LockKinds } from '../../core/lock-kinds.js';

/** Paths remembered; the oldest is forgotten first. */
const CAPACITY = 10_000;

/** What one client uses each path for, with the directories and the permits of its semaphores. */
export class PathKinds {
  readonly #kinds: LockKinds;
  readonly #permits = new Map<string, unknown>();

  constructor(private readonly client: string) {
    this.#kinds = new LockKinds(client);
  }

  /**
   * @param kind as it stands in messages
   * @throws LockKeyError when `path` is used for another kind
   */
  claim(path: string, kind: string, key: string): void {
    this.#kinds.claim(path, kind, key);
  }

  /**
   * As `claim`, of the directories of a semaphore.
   *
   * @throws LockOptionsError when another object of that semaphore has other permits
   */
  claimSemaphore(path: string, kind: string, key: string, permits: unknown): void {
    this.claim(path, kind, key);
    this.claim(`${path}/locks`, `gate of a ${kind}`, key);
    this.claim(`${path}/leases`, `directory of leases of a ${kind}`, key);
    const others = this.#permits.get(path) ?? permits;
    if (others !== permits)
      throw new LockOptionsError(
        'permits',
        permits,
        'what this client gives that semaphore elsewhere, or one SharedCount to both, which can be changed',
        { key, client: this.client },
      );
    this.#permits.set(path, permits);
    const [eldest] = this.#permits.keys();
    if (this.#permits.size > CAPACITY) this.#permits.delete(eldest!);
  }
}
