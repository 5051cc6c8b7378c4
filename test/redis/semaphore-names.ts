/** The keys and channels of a semaphore under a key without braces. */
export function semaphoreNames(key: string) {
  return {
    /** How many permits are free. */
    free: key,
    /** The permits that somebody has, with the times at which they come back. */
    timeouts: `{${key}}:timeout`,
    channel: `redisson_sc:{${key}}`,
    token: `redisson_lock_token:{${key}}`,
    /** How many permits our clients last said there should be. */
    wanted: `interlock_permits:{${key}}`,
    /** Those of ours who wait in the order of coming, and until when each is known to live. */
    queue: `interlock_permit_queue:{${key}}`,
    alive: `interlock_alive:{${key}}`,
    requests: `interlock_requests:{${key}}:`,
  };
}
