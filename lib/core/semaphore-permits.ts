import { LockOptionsError } from './errors/index.js';

/** Names remembered; the oldest is forgotten first. */
const CAPACITY = 10_000;

/** How many permits one client gives each semaphore. Other processes are not looked at. */
export class SemaphorePermits {
  readonly #permits = new Map<string, unknown>();

  /** @param remedy how else to change the number, as it stands in messages */
  constructor(
    private readonly client: string,
    private readonly remedy: string,
  ) {}

  /**
   * @param name of the semaphore on the servers
   * @throws LockOptionsError when another object of that semaphore has other permits
   */
  claim(name: string, permits: unknown, key: string): void {
    const others = this.#permits.get(name) ?? permits;
    if (others !== permits)
      throw new LockOptionsError(
        'permits',
        permits,
        `what this client gives that semaphore elsewhere, or ${this.remedy}`,
        { key, client: this.client },
      );
    this.#permits.set(name, permits);
    const [eldest] = this.#permits.keys();
    if (this.#permits.size > CAPACITY) this.#permits.delete(eldest!);
  }
}
