/**
 * The names of one lock on the server, as Redisson forms them: everything that belongs to a lock lies in the slot of its
 * key. A name with a brace is assumed to contain a hash tag of its own.
 */
export class LockName {
  /** The name of the lock, with a hash tag, as a part of longer names. */
  readonly tagged: string;
  /** Channel that wakes waiters. */
  readonly channel: string;
  /** The counter of fencing tokens. */
  readonly token: string;

  /** @param redisKey name of the lock itself */
  constructor(readonly redisKey: string) {
    this.tagged = redisKey.includes('{') ? redisKey : `{${redisKey}}`;
    this.channel = this.prefixed('redisson_lock__channel');
    this.token = this.prefixed('redisson_lock_token');
  }

  /** The name that differs in the braces around it only, so that what belongs to its lock has the same names. */
  get twin(): string | undefined {
    const { redisKey, tagged } = this;
    if (tagged !== redisKey) return tagged;
    return /^\{([^{]+)\}$/.exec(redisKey)?.[1];
  }

  /** Name of something that belongs to the lock: the prefix says what it is. */
  prefixed(prefix: string): string {
    return `${prefix}:${this.tagged}`;
  }

  /** The latest occurrence of a job that was begun. */
  get occurrence(): string {
    return this.prefixed('interlock_occurrence');
  }

  /** Channel without messages, of those that listen to `channel` and hand the lock on: a server can tell them from others. */
  get handingOn(): string {
    return `${this.channel}:interlock`;
  }

  /** Channel that wakes the waiters of a read/write lock. */
  get readWriteChannel(): string {
    return this.prefixed('redisson_rwlock');
  }

  /** Waiters of this library for a plain lock. */
  get waiters(): string {
    return this.prefixed('interlock_waiters');
  }

  /** Queue of a fair lock: the ids of its waiters. */
  get queue(): string {
    return this.prefixed('redisson_lock_queue');
  }

  /** Deadlines of the waiters in the queue. */
  get timeouts(): string {
    return this.prefixed('redisson_lock_timeout');
  }

  /** Queued waiters of this library, with the time until which each counts as alive. */
  get alive(): string {
    return this.prefixed('interlock_alive');
  }

  /** Waiting writers of this library, if writers go first. */
  get writers(): string {
    return this.prefixed('interlock_writers');
  }

  /** Readers of this library, with the deadlines of their holds. */
  get readers(): string {
    return this.prefixed('interlock_readers');
  }

  /** Channel that wakes waiters for permits. */
  get semaphoreChannel(): string {
    return this.prefixed('redisson_sc');
  }

  /** Granted permits, with the times at which they expire. */
  get permitTimeouts(): string {
    return `${this.tagged}:timeout`;
  }

  /** Number of permits that clients of this library last declared. */
  get wantedPermits(): string {
    return this.prefixed('interlock_permits');
  }

  /** Queue of the waiters of this library that are served in order. */
  get permitQueue(): string {
    return this.prefixed('interlock_permit_queue');
  }

  /** Channel that wakes the waiters of a latch. Redisson puts braces around every name here. */
  get latchChannel(): string {
    return `redisson_countdownlatch__channel__{${this.redisKey}}`;
  }

  /** Cached replies to the requests of a client. */
  requests(id: string): string {
    return `${this.prefixed('interlock_requests')}:${id}`;
  }

  /** Tombstone of a holder from which a late acquire may still arrive. */
  gone(holder: string): string {
    return `${this.prefixed('interlock_gone')}:${holder}`;
  }

  /** Number of the last extension of a hold of permits; other holds store it themselves. */
  extended(holder: string): string {
    return `${this.prefixed('interlock_extended')}:${holder}`;
  }

  /** Key of one hold of a read/write lock. */
  hold(field: string): string {
    return `${this.tagged}:${field}:rwlock_timeout:1`;
  }
}
