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
