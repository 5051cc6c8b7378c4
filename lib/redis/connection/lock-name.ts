/**
 * The names of one lock on the server, as Redisson makes them: everything that belongs to a lock lies in the slot of its
 * key. A name with a brace is taken to bring a hash tag of its own.
 */
export class LockName {
  /** @param redisKey name of the lock itself */
  constructor(readonly redisKey: string) {}

  /** What belongs to the lock, by what it is. */
  prefixed(prefix: string): string {
    return this.redisKey.includes('{')
      ? `${prefix}:${this.redisKey}`
      : `${prefix}:{${this.redisKey}}`;
  }

  /** The name of the lock within names that begin with it. */
  get tagged(): string {
    return this.redisKey.includes('{') ? this.redisKey : `{${this.redisKey}}`;
  }

  /** Messages to who waits. */
  get channel(): string {
    return this.prefixed('redisson_lock__channel');
  }

  /** Messages to who waits for a read/write lock. */
  get readWriteChannel(): string {
    return this.prefixed('redisson_rwlock');
  }

  /** The counter of fencing tokens. */
  get token(): string {
    return this.prefixed('redisson_lock_token');
  }

  /** The holders who queue for a fair lock. */
  get queue(): string {
    return this.prefixed('redisson_lock_queue');
  }

  /** Their deadlines. */
  get timeouts(): string {
    return this.prefixed('redisson_lock_timeout');
  }

  /** Those of ours among them, and how long they live. */
  get alive(): string {
    return this.prefixed('interlock_alive');
  }

  /** Writers of ours who wait, where they go first. */
  get writers(): string {
    return this.prefixed('interlock_writers');
  }

  /** Messages to who waits for permits. */
  get semaphoreChannel(): string {
    return this.prefixed('redisson_sc');
  }

  /** The permits that somebody has, with the times at which they come back. */
  get permitTimeouts(): string {
    return `${this.tagged}:timeout`;
  }

  /** How many permits clients of ours wanted there to be. */
  get wantedPermits(): string {
    return this.prefixed('interlock_permits');
  }

  /** Those of ours who wait for permits in the order of coming. */
  get permitQueue(): string {
    return this.prefixed('interlock_permit_queue');
  }

  /** Messages to who waits for a latch. Redisson puts braces around every name here. */
  get latchChannel(): string {
    return `redisson_countdownlatch__channel__{${this.redisKey}}`;
  }

  /** The answers that requests of a client were given. */
  requests(id: string): string {
    return `${this.prefixed('interlock_requests')}:${id}`;
  }

  /** The tombstone of a holder of which a late acquire may come. */
  gone(holder: string): string {
    return `${this.prefixed('interlock_gone')}:${holder}`;
  }

  /** The number of the last extension of permits; other holds keep it themselves. */
  extended(holder: string): string {
    return `${this.prefixed('interlock_extended')}:${holder}`;
  }

  /** The key of one hold of a read/write lock. */
  hold(field: string): string {
    return `${this.tagged}:${field}:rwlock_timeout:1`;
  }
}
