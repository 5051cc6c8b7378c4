/** What copies of commands that arrive late are known by; each such key ends by itself. */
export const FOR_LATE_COPIES = /^interlock_(requests|gone|extended):/;

/** What may be left of locks that are free: counters of fencing tokens, and what late copies are known by. */
export const KEPT = /^(redisson_lock_token|interlock_(requests|gone|extended)):/;
