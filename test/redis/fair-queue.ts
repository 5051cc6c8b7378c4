import type { RedisStage } from './redis-stage.js';

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
