/** The keys and channels of the lock, semaphore or latch of that name, as Redisson calls them. */
export function redisNames(name: string) {
  const tagged = name.includes('{') ? name : `{${name}}`;
  return {
    /** Of a lock, a fair lock's holder, or a read/write lock. */
    hash: name,
    token: `redisson_lock_token:${tagged}`,
    /** The waiters of a fair lock, in order, and their deadlines. */
    queue: `redisson_lock_queue:${tagged}`,
    timeouts: `redisson_lock_timeout:${tagged}`,
    /** Ids of the held permits, and when they expire. */
    permitTimeouts: `${tagged}:timeout`,
    /** Exists as long as the `n`th hold of a reader. */
    readHold: (holder: string, n: number) => `${tagged}:${holder}:rwlock_timeout:${n}`,

    channel: `redisson_lock__channel:${tagged}`,
    /** Channel of a waiter for a fair lock. */
    waiterChannel: (holder: string) => `redisson_lock__channel:${tagged}:${holder}`,
    semaphoreChannel: `redisson_sc:${tagged}`,
    latchChannel: `redisson_countdownlatch__channel__{${name}}`,
    readWriteChannel: `redisson_rwlock:${tagged}`,
  };
}
