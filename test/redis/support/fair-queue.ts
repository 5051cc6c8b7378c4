import type { RedisStage } from './redis-stage.js';

/** Wait that all clients add and subtract by default, in ms. */
const WAIT = 300_000;

const SEED = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for i = 1, tonumber(ARGV[1]) do
  local waiter = ARGV[2] .. ':' .. i
  local place = redis.call('RPUSH', KEYS[1], waiter)
  redis.call('ZADD', KEYS[2], now + tonumber(ARGV[3]) * place, waiter)
  if ARGV[4] ~= '' then
    redis.call('ZADD', KEYS[3], now + tonumber(ARGV[4]), waiter)
  end
end
`;

const KILL = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
for _, waiter in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1)) do
  if string.sub(waiter, 1, #ARGV[1]) == ARGV[1] then
    redis.call('ZADD', KEYS[3], now, waiter)
  end
end
`;

/** Waiters of inactive processes, in the queue of this test's fair lock. */
export class WaitersOnServer {
  constructor(private readonly stage: RedisStage) {}

  /** Our waiters: `name:1` and so on; they live for `life` ms. */
  async ours(name: string, count: number, life = 60_000): Promise<void> {
    await this.#run(SEED, count, name, WAIT, life);
  }

  /** Overdue waiters of Redisson. */
  async overdue(name: string, count: number): Promise<void> {
    await this.#run(SEED, count, name, -1, '');
  }

  /** From now on the waiters of that name are known to be dead. */
  async kill(name: string): Promise<void> {
    await this.#run(KILL, name);
  }

  /** Number of waiters. */
  async count(): Promise<number> {
    return Number(await this.stage.command('LLEN', this.stage.names.queue));
  }

  /** Name of the key with the lifetimes of our waiters. */
  get alive(): string {
    return this.stage.names.queue.replace('redisson_lock_queue', 'interlock_alive');
  }

  #run(script: string, ...args: (string | number)[]): Promise<unknown> {
    const { queue, timeouts } = this.stage.names;
    return this.stage.command('EVAL', script, 3, queue, timeouts, this.alive, ...args);
  }
}

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

/** One snapshot of everything: time, lifetime of the lock, and each waiter with its deadline. */
const LOOK = `
local time = redis.call('TIME')
local seen = { time[1] * 1000 + math.floor(time[2] / 1000), redis.call('PTTL', KEYS[1]) }
for _, waiter in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do
  table.insert(seen, waiter)
  table.insert(seen, redis.call('ZSCORE', KEYS[3], waiter) or '')
end
return seen
`;

/** The queue of the fair lock of a test, as it was on the server at one moment. */
export interface FairQueue {
  /** By the clock of the server, in ms. */
  readonly now: number;
  /** Remaining time of the holder, in ms; -2 when the lock is free. */
  readonly ttl: number;
  /** The waiters, the first one first. */
  readonly waiters: readonly string[];
  /** Their deadlines, in ms by the clock of the server; `NaN` where there is none. */
  readonly deadlines: readonly number[];
}

/** Reads the queue of this test's fair lock. */
export async function fairQueue(stage: RedisStage): Promise<FairQueue> {
  const { hash, queue, timeouts } = stage.names;
  const [now, ttl, ...flat] = (await stage.command('EVAL', LOOK, 3, hash, queue, timeouts)) as [
    number,
    number,
    ...string[],
  ];
  return {
    now,
    ttl,
    waiters: flat.filter((_, i) => i % 2 === 0),
    deadlines: flat.filter((_, i) => i % 2 === 1).map((text) => (text === '' ? NaN : Number(text))),
  };
}
