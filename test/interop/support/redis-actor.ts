/** How a {@link RedisActor} acquires. */
export interface RedisAcquireOptions {
  /** In ms, or forever. Default forever. */
  readonly wait?: number | 'forever';
  /** In ms. Default: until it is released, renewed meanwhile. */
  readonly lease?: number;
}

/**
 * An owner of locks on Redis in a peer: a thread in Java, a chain of leases in Node. It executes its commands one after the
 * other.
 *
 * Locks are named by kind and name: `lock:a`, `fair:a`, `fenced:a`, `read:a`, `write:a`, `spin:a`, and `lock:a+lock:b` for a
 * multi-lock.
 */
export class RedisActor {
  constructor(private readonly ask: (...words: (string | number)[]) => Promise<string>) {}

  /** Whether it was granted within the wait. */
  async acquire(lock: string, options: RedisAcquireOptions = {}): Promise<boolean> {
    const { wait = 'forever', lease = -1 } = options;
    const outcome = await this.ask('acquire', lock, wait === 'forever' ? -1 : wait, lease);
    return outcome === 'granted';
  }

  /** Whether it was granted at once. */
  async tryAcquire(lock: string): Promise<boolean> {
    return (await this.ask('tryAcquire', lock)) === 'granted';
  }

  /** Releases the most recent acquire of that lock. */
  async release(lock: string): Promise<void> {
    await this.ask('release', lock);
  }

  /** Frees the lock, no reader's or writer's, whatever its holder; false when it is free. */
  async forceUnlock(lock: string): Promise<boolean> {
    return (await this.ask('forceUnlock', lock)) === 'true';
  }

  /** Whether it is held at all. */
  async isLocked(lock: string): Promise<boolean> {
    return (await this.ask('isLocked', lock)) === 'true';
  }

  /** Whether this actor holds it. */
  async isHeld(lock: string): Promise<boolean> {
    return (await this.ask('isHeld', lock)) === 'true';
  }

  /** How often this actor holds it. */
  async holdCount(lock: string): Promise<number> {
    return Number(await this.ask('holdCount', lock));
  }

  /** How long the lock stays held unless it is renewed, in ms; -2 when it is free. */
  async remaining(lock: string): Promise<number> {
    return Number(await this.ask('remaining', lock));
  }

  /** Fencing token of the most recent acquire of that lock. */
  async token(lock: string): Promise<number> {
    return Number(await this.ask('token', lock));
  }

  /** How many actors of its process wait for locks; in Java, those that are already asleep. */
  async sleepers(): Promise<number> {
    return Number(await this.ask('sleepers'));
  }

  /** Field of the lock's hash that marks this actor as a holder. */
  async holder(lock: string): Promise<string> {
    return this.ask('holder', lock);
  }
}
