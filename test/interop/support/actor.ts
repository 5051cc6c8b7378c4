/** How an actor acquires. */
export interface ActorAcquireOptions {
  /** In ms, or forever. Default 20,000. */
  readonly wait?: number | 'forever';
  /** Default 1. */
  readonly permits?: number;
}

/**
 * An owner of locks in a peer: a thread in Java and Python, a chain of leases in Node. It executes its commands one after the
 * other.
 *
 * Locks are named by recipe and path: `mutex:/a`, `read:/a`, `write:/a`, `semaphore#3:/a`, `semaphore#/n:/a` (as many permits
 * as the shared count at `/n` has), `semaphoreMutex:/a`, and `mutex:/a+write:/b` for a multi-lock.
 */
export class Actor {
  constructor(private readonly ask: (...words: (string | number)[]) => Promise<string>) {}

  /** Whether it was granted within the wait. */
  async acquire(lock: string, options: ActorAcquireOptions = {}): Promise<boolean> {
    const { wait = 20_000, permits = 1 } = options;
    const outcome = await this.ask('acquire', lock, wait === 'forever' ? -1 : wait, permits);
    return outcome === 'granted';
  }

  /** Releases the most recent acquire of that lock. */
  async release(lock: string): Promise<void> {
    await this.ask('release', lock);
  }

  /** Paths of the nodes that represent the lock, the holders first. */
  async participants(lock: string): Promise<string[]> {
    const paths = await this.ask('participants', lock);
    return paths.split(' ').filter(Boolean);
  }

  /** Adds a listener for revocations: in Java before an acquire, in Node to a held lease. */
  async makeRevocable(lock: string): Promise<void> {
    await this.ask('makeRevocable', lock);
  }

  /** Waits for the next unreported revocation of the lock; false when none arrives within `wait` ms. */
  async revoked(lock: string, wait = 10_000): Promise<boolean> {
    return (await this.ask('revoked', lock, wait)) === 'revoked';
  }

  /** Asks the holder of that node to release. */
  async revoke(participant: string): Promise<void> {
    await this.ask('revoke', participant);
  }

  /** Follows the shared count at that path, created with that number if there is none yet. */
  async startCount(path: string, seed: number): Promise<void> {
    await this.ask('startCount', path, seed);
  }

  /** Sets a shared count that its process follows. */
  async setCount(path: string, value: number): Promise<void> {
    await this.ask('setCount', path, value);
  }

  /** Id of the session of its process, in hexadecimal. */
  session(): Promise<string> {
    return this.ask('session');
  }

  /**
   * Acquires the lock, holds it for 0 to 5 ms, releases it, again and again until another actor of its process gets the command
   * `rest`. It reports to the observer on that port under that name. Resolves to how often the library failed.
   */
  async work(lock: string, port: number, name: string): Promise<number> {
    return Number(await this.ask('work', lock, port, name));
  }

  /** Ends the work of all actors of its process. */
  async rest(): Promise<void> {
    await this.ask('rest');
  }
}
