/** The keys and channels of a semaphore under a key without braces. */
export function semaphoreNames(key: string) {
  return {
    /** How many permits are free. */
    free: key,
    /** The permits that are held, with their expiry times. */
    timeouts: `{${key}}:timeout`,
    channel: `redisson_sc:{${key}}`,
    token: `redisson_lock_token:{${key}}`,
    /** The number of permits that our clients declared last. */
    wanted: `interlock_permits:{${key}}`,
    /** Our waiters in the order of arrival, and until when each is known to be alive. */
    queue: `interlock_permit_queue:{${key}}`,
    alive: `interlock_alive:{${key}}`,
    requests: `interlock_requests:{${key}}:`,
  };
}
