import { LockKinds, SemaphorePermits } from '../../core/internal/key-uses.js';

/** What one client uses each path for, with the directories and the permits of its semaphores. */
export class PathKinds {
  readonly #kinds: LockKinds;
  readonly #permits: SemaphorePermits;

  constructor(client: string) {
    this.#kinds = new LockKinds(client);
    this.#permits = new SemaphorePermits(client, 'one SharedCount to both, which can be changed');
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
    this.#permits.claim(path, permits, key);
  }
}
