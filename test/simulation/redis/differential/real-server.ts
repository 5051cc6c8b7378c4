import { Redis } from 'ioredis';
import { ErrorReply, type Reply } from '../../../../lib/testing/redis/server/reply.js';
import type { DumpedKey } from './dump.js';

/** All keys, with their types, the times at which they end, and their values. */
const DUMP = `
local dump = {}
for i, key in ipairs(redis.call('keys', '*')) do
  local kind, value = redis.call('type', key).ok, nil
  if kind == 'string' then value = { redis.call('get', key) }
  elseif kind == 'hash' then value = redis.call('hgetall', key)
  elseif kind == 'list' then value = redis.call('lrange', key, 0, -1)
  else value = redis.call('zrange', key, 0, -1, 'withscores') end
  dump[i] = { key, kind, redis.call('pexpiretime', key), value }
end
return dump`;

/** A command with its arguments, as bytes. */
export type Words = readonly string[];

/** What a real server has done at some calls, one after the other. */
export interface Observation {
  readonly replies: readonly Reply[];
  /** The time in ms before each call, and after the last one. */
  readonly times: readonly number[];
  /** All that it has afterwards, and the time in ms at which it has. */
  readonly dump: readonly DumpedKey[];
  readonly end: number;
  /** Messages of the channels that are listened to, each its channel and its text. */
  readonly messages: readonly string[];
}

/** A real server, which carries out many calls in one go, and tells of each what it has changed. */
export class RealServer {
  readonly #redis: Redis;
  readonly #subscriber: Redis;
  #messages: string[] = [];
  /** The messages of each group. */
  #told: string[][] = [];

  constructor(port: number) {
    const options = { host: '127.0.0.1', port, protocol: 2 as const };
    this.#redis = new Redis(options);
    this.#subscriber = new Redis(options);
    const note = (channel: Buffer, text: Buffer) => this.#note(channel, text);
    this.#subscriber.on('messageBuffer', note).on('smessageBuffer', note);
  }

  async open(scripts: readonly string[], channels: readonly string[]): Promise<void> {
    await this.#redis.config('SET', 'maxmemory', '0'); // a run before may have ended in between
    await this.#redis.flushall();
    for (const source of scripts) await this.#redis.script('LOAD', source);
    await this.#subscriber.subscribe('marker', ...channels);
    for (const channel of channels) await this.#subscriber.ssubscribe(channel);
  }

  /** The version of Redis; of Valkey the one that it says it is compatible with. */
  async version(): Promise<string> {
    return /^redis_version:(.*)\r$/m.exec(await this.#redis.info('server'))?.[1] ?? '';
  }

  async observe(groups: readonly (readonly Words[])[]): Promise<Observation[]> {
    const pipeline = this.#redis.pipeline();
    for (const calls of groups) {
      for (const call of calls) {
        const [name, ...words] = call.map((word) => Buffer.from(word, 'latin1'));
        pipeline.callBuffer('time');
        pipeline.callBuffer(String(name).toUpperCase(), ...words); // else ioredis makes an object of a hash
      }
      pipeline.callBuffer('time');
      pipeline.callBuffer('eval', DUMP, 0);
      pipeline.callBuffer('time');
      pipeline.callBuffer('publish', 'marker', '');
    }
    const replies = ((await pipeline.exec()) ?? []).map(([error, value]) => replyOf(error, value));
    while (this.#told.length < groups.length)
      await new Promise((resolve) => this.#subscriber.once('messageBuffer', resolve));
    return groups.map((calls) => {
      const own = replies.splice(0, 2 * calls.length + 4);
      const isTime = (_: Reply, i: number) => i % 2 === 0;
      const during = own.slice(0, 2 * calls.length + 1);
      return {
        replies: during.filter((reply, i) => !isTime(reply, i)),
        times: during.filter(isTime).map(timeOf),
        dump: own.at(-3) as unknown as readonly DumpedKey[],
        end: timeOf(own.at(-2)!),
        messages: this.#told.shift()!,
      };
    });
  }

  close(): void {
    this.#redis.disconnect();
    this.#subscriber.disconnect();
  }

  #note(channel: Buffer, text: Buffer): void {
    if (channel.toString() === 'marker') {
      this.#told.push(this.#messages);
      this.#messages = [];
    } else this.#messages.push(`${channel.toString('latin1')} ${text.toString('latin1')}`);
  }
}

function timeOf(reply: Reply): number {
  const [seconds, micros] = reply as [string, string];
  return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
}

function replyOf(error: Error | null, value: unknown): Reply {
  if (error) return new ErrorReply(error.message);
  if (Array.isArray(value)) return value.map((item) => replyOf(null, item));
  return Buffer.isBuffer(value) ? value.toString('latin1') : (value as Reply);
}
