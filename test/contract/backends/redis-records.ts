import type { Cluster, Redis } from 'ioredis';
import type { RedisClient, RedisNode } from '../../../lib/redis/connection/ioredis.js';
import { lockRenew } from '../../../lib/redis/scripts/index.js';

const OWNER = /^([0-9a-f-]{36}):\d+/;

type Command = readonly (string | number)[];

/** Writes down what is sent by a client. */
export class CommandRecord {
  readonly #commands: Command[] = [];

  constructor(redis: RedisClient) {
    const call = redis.call.bind(redis) as (...command: Command) => Promise<unknown>;
    const record = (...command: Command) => {
      this.#commands.push(command.flat());
      return call(...command);
    };
    Object.assign(redis, { call: record });
  }

  /** The scripts so far, but for renewals. */
  get requests(): readonly Command[] {
    const isScript = (name: unknown) => name === 'evalsha' || name === 'eval';
    const isRenewal = (script: unknown) => script === lockRenew.sha1 || script === lockRenew.source;
    return this.#commands.filter(([name, script]) => isScript(name) && !isRenewal(script));
  }

  /** What the names of the owners begin with that it was sent for; none before the first. */
  get owner(): string | undefined {
    const names = this.requests.flat().map((part) => OWNER.exec(`${part}`)?.[1]);
    return names.find((name) => name !== undefined);
  }
}

/** Calls the listener at each message to a subscriber that is made of that connection. */
export function onMessages(redis: RedisNode, listener: () => void): void {
  const { duplicate } = redis;
  redis.duplicate = (override) => {
    const subscriber = duplicate.call(redis, override);
    for (const event of ['message', 'smessage']) subscriber.on(event, listener);
    return subscriber;
  };
}

/** Removes everything on a server that one lock client has there. ARGV: what the names of its owners begin with. */
export const forgetScript = `
for _, key in ipairs(redis.call('keys', '*')) do
  local kind = redis.call('type', key).ok
  local function drop(members, ...)
    for _, member in ipairs(members) do
      if string.find(member, ARGV[1], 1, true) == 1 then
        local command = { ... }
        table.insert(command, member)
        redis.call(unpack(command))
      end
    end
  end
  if kind == 'string' and string.find(key, ARGV[1], 1, true) then
    redis.call('del', key)
  elseif kind == 'hash' then
    drop(redis.call('hkeys', key), 'hdel', key)
    local left = redis.call('hlen', key)
    local others = left - redis.call('hexists', key, 'mode') - redis.call('hexists', key, 'nestjs-interlock')
    if others == 0 then redis.call('del', key) end
  elseif kind == 'zset' then
    drop(redis.call('zrange', key, 0, -1), 'zrem', key)
  elseif kind == 'list' then
    drop(redis.call('lrange', key, 0, -1), 'lrem', key, 0)
  end
end`;

/**
 * Ends the leases of permits on a server, and removes the waiters for some. ARGV: the holders and waiters, each as its 12
 * bytes and their number, in hexadecimal digits.
 */
export const forgetPermitsScript = `
local function bytesOf(digits)
  return (string.gsub(digits, '%x%x', function(two) return string.char(tonumber(two, 16)) end))
end
for _, key in ipairs(redis.call('keys', '*')) do
  local kind = redis.call('type', key).ok
  for _, holder in ipairs(ARGV) do
    if kind == 'list' then
      redis.call('lrem', key, 0, holder)
    elseif kind == 'zset' then
      redis.call('zrem', key, holder)
      for i = 0, tonumber(string.sub(holder, 25), 16) - 1 do
        redis.call('zadd', key, 'xx', 1, bytesOf(string.sub(holder, 1, 24)) .. struct.pack('>I4', i))
      end
    end
  end
end`;

/** How many permits our clients want a semaphore to have. */
const WANTED = /^interlock_permits:(?:\{([^{}]*)\}|(.*\{.*))$/;

/** Those of `keys` that stay of semaphores: how many permits are free, and how many there should be, where it is all of them. */
export async function keysOfUnusedSemaphores(
  redis: Redis | Cluster,
  keys: readonly string[],
): Promise<Set<string>> {
  const unused = new Set<string>();
  for (const key of keys) {
    const [, whole, tagged] = WANTED.exec(key) ?? [];
    const raw = whole ?? tagged;
    if (raw === undefined) continue;
    const [free, wanted] = await redis.mget(raw, key);
    if (free === wanted) unused.add(raw).add(key);
  }
  return unused;
}
