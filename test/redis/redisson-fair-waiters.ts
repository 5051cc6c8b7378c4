import type { RedisStage } from './redis-stage.js';

/** Drops overdue heads of the queue; Redisson's scripts begin with it. */
const DROP_OVERDUE = `
local now = tonumber(ARGV[1])
local head = redis.call('LINDEX', KEYS[2], 0)
while head do
  local due = redis.call('ZSCORE', KEYS[3], head)
  if not due or tonumber(due) > now then break end
  redis.call('LPOP', KEYS[2])
  redis.call('ZREM', KEYS[3], head)
  head = redis.call('LINDEX', KEYS[2], 0)
end
`;

const ACQUIRE = `${DROP_OVERDUE}
local holder, wait, lease = ARGV[2], tonumber(ARGV[3]), ARGV[4]
if redis.call('EXISTS', KEYS[1]) == 0 and (not head or head == holder) then
  redis.call('LPOP', KEYS[2])
  redis.call('ZREM', KEYS[3], holder)
  for _, other in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1)) do
    redis.call('ZINCRBY', KEYS[3], -wait, other)
  end
  redis.call('HSET', KEYS[1], holder, 1)
  redis.call('PEXPIRE', KEYS[1], lease)
  return 1
end
local last = redis.call('LINDEX', KEYS[2], -1)
local ahead = redis.call('PTTL', KEYS[1])
if last and last ~= holder then
  ahead = tonumber(redis.call('ZSCORE', KEYS[3], last)) - now
end
if redis.call('ZADD', KEYS[3], 'NX', now + ahead + wait, holder) == 1 then
  redis.call('RPUSH', KEYS[2], holder)
end
return 0
`;

const GIVE_UP = `
local place = redis.call('LPOS', KEYS[2], ARGV[2])
for _, other in ipairs(redis.call('LRANGE', KEYS[2], place + 1, -1)) do
  redis.call('ZINCRBY', KEYS[3], -tonumber(ARGV[3]), other)
end
redis.call('LREM', KEYS[2], 0, ARGV[2])
redis.call('ZREM', KEYS[3], ARGV[2])
`;

/** Waits of the fair lock that are not `fairLockWaitTimeout`, in ms. */
interface RedissonWait {
  readonly wait?: number;
}

/**
 * What waiters of Redisson's `RFairLock` do to the queue of this test's lock; like dead ones, they receive nothing and do not
 * look by themselves.
 */
export class RedissonFairWaiters {
  /** @param fairLockWaitTimeout in ms */
  constructor(
    private readonly stage: RedisStage,
    private readonly fairLockWaitTimeout = 300_000,
  ) {}

  /** Takes the lock, or queues; resolves to whether it was granted. */
  async acquire(
    holder: string,
    { wait = this.fairLockWaitTimeout, lease = 60_000 }: RedissonWait & { lease?: number } = {},
  ): Promise<boolean> {
    return (await this.#run(ACQUIRE, holder, wait, lease)) === 1;
  }

  /** Leaves the queue, as after a `tryLock` in vain. */
  async giveUp(
    holder: string,
    { wait = this.fairLockWaitTimeout }: RedissonWait = {},
  ): Promise<void> {
    await this.#run(GIVE_UP, holder, wait);
  }

  /** Drops overdue waiters at the head, as each of its commands does. */
  async dropOverdue(): Promise<void> {
    await this.#run(DROP_OVERDUE);
  }

  /** @param args after the time by the client's clock */
  #run(script: string, ...args: (string | number)[]): Promise<unknown> {
    const { hash, queue, timeouts } = this.stage.names;
    return this.stage.command('EVAL', script, 3, hash, queue, timeouts, Date.now(), ...args);
  }
}
