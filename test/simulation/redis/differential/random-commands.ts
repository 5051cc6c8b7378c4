import { LockName } from '../../../../lib/redis/connection/lock-name.js';
import type { Dice } from '../../dice.js';
import { ALL_HOLDERS, HOLDERS } from './random-operands.js';

const NAMES = ['lock', 'fair', 'read/write', 'permits', 'semaphore', 'latch'].map(
  (key) => new LockName(key),
);
/** Keys of all kinds. */
const KEYS = [
  'a',
  'b',
  'written',
  ...NAMES.flatMap((name) => [
    ...[name.redisKey, name.queue, name.timeouts, name.alive, name.waiters, name.token],
    ...[name.readers, name.writers, name.permitTimeouts, name.permitQueue, name.wantedPermits],
    ...[name.requests('c1'), name.gone('h1'), name.hold('h1'), name.hold('h2:write')],
  ]),
];
/** Of the locks, and of some of their registered waiters: a release asks whether one listens. */
export const CHANNELS = NAMES.flatMap(({ channel, readWriteChannel, semaphoreChannel }) => [
  ...[channel, readWriteChannel, semaphoreChannel, `${channel}:h1`],
  ...[`${readWriteChannel}:h2:write`, `${semaphoreChannel}:${ALL_HOLDERS.at(-1)}`],
]);

/** Single commands: all that scripts and the library use, and more for guarded writes, on keys of all types. */
export class RandomCommands {
  constructor(private readonly dice: Dice) {}

  next(): string[] {
    if (this.dice.chance(0.2)) return this.#deletion();
    const name = this.dice.pick(Object.keys(this.#operands));
    const words = this.#operands[name]!().map(String);
    if (this.dice.chance(0.02)) return [name, ...words.slice(1)];
    return [name, ...words];
  }

  /** Of some keys, and all tombstones of a lock: else few acquires succeed. */
  #deletion(): string[] {
    const some = Array.from({ length: 6 }, () => this.#key());
    const name = this.#pick(NAMES);
    return ['del', ...some, ...ALL_HOLDERS.map((holder) => name.gone(holder))];
  }

  readonly #operands: Readonly<Record<string, () => (string | number)[]>> = {
    get: () => [this.#key()],
    getrange: () => [this.#key(), this.#index(), this.#index()],
    strlen: () => [this.#key()],
    append: () => [this.#key(), this.#text()],
    getdel: () => [this.#key()],
    setnx: () => [this.#key(), this.#text()],
    setex: () => [this.#key(), this.#pick([1, 30, 0, 'x']), this.#text()],
    psetex: () => [this.#key(), this.#pick([50, 30_000, -1, 'x']), this.#text()],
    set: () => [this.#key(), this.#text(), ...this.#setOptions()],
    incr: () => [this.#key()],
    decr: () => [this.#key()],
    incrby: () => [this.#key(), this.#number()],
    decrby: () => [this.#key(), this.#number()],
    hget: () => [this.#key(), this.#member()],
    hmget: () => [this.#key(), this.#member(), this.#member()],
    hgetall: () => [this.#key()],
    hkeys: () => [this.#key()],
    hvals: () => [this.#key()],
    hsetnx: () => [this.#key(), this.#member(), this.#number()],
    hincrby: () => [this.#key(), this.#member(), this.#number()],
    hlen: () => [this.#key()],
    hexists: () => [this.#key(), this.#member()],
    hset: () => [this.#key(), this.#member(), this.#text(), this.#member(), this.#number()],
    hdel: () => [this.#key(), this.#member(), this.#member()],
    llen: () => [this.#key()],
    lindex: () => [this.#key(), this.#index()],
    lrange: () => [this.#key(), this.#index(), this.#index()],
    lpos: () => [this.#key(), this.#member()],
    rpush: () => [this.#key(), this.#member(), this.#member()],
    lpush: () => [this.#key(), this.#member(), this.#member()],
    rpushx: () => [this.#key(), this.#member()],
    lpushx: () => [this.#key(), this.#member(), this.#member()],
    lpop: () => [this.#key()],
    rpop: () => [this.#key()],
    lset: () => [this.#key(), this.#index(), this.#member()],
    lrem: () => [this.#key(), this.#pick([1, 0, -1, 2, 'x']), this.#member()],
    ltrim: () => [this.#key(), this.#index(), this.#index()],
    zadd: () => [this.#key(), ...this.#zaddOptions(), ...this.#scored(), ...this.#scored()],
    zincrby: () => [this.#key(), this.#score(), this.#member()],
    zcard: () => [this.#key()],
    zscore: () => [this.#key(), this.#member()],
    zmscore: () => [this.#key(), this.#member(), this.#member()],
    zcount: () => [this.#key(), this.#bound(), this.#bound()],
    zrange: () => [this.#key(), this.#index(), this.#index(), ...this.#withScores()],
    zrevrange: () => [this.#key(), this.#index(), this.#index(), ...this.#withScores()],
    zrangebyscore: () => [
      ...[this.#key(), this.#bound(), this.#bound(), ...this.#withScores()],
      ...(this.dice.chance(0.5) ? ['LIMIT', this.#index(), this.#index()] : []),
    ],
    zrank: () => [this.#key(), this.#member()],
    zpopmin: () => [this.#key()],
    zpopmax: () => [this.#key()],
    zremrangebyrank: () => [this.#key(), this.#index(), this.#index()],
    zrem: () => [this.#key(), this.#member(), this.#member()],
    zremrangebyscore: () => [this.#key(), this.#bound(), this.#bound()],
    exists: () => [this.#key(), this.#key()],
    type: () => [this.#key()],
    del: () => [this.#key(), this.#key()],
    unlink: () => [this.#key(), this.#key()],
    ttl: () => [this.#key()],
    expire: () => [this.#key(), this.#pick([1, 30, 0, 'x'])],
    expireat: () => [this.#key(), Math.floor(Date.now() / 1_000) + this.#pick([-1, 2, 30])],
    pttl: () => [this.#key()],
    pexpiretime: () => [this.#key()],
    pexpire: () => [this.#key(), this.#pick([1, 3, 50, 30_000, 30_000, 0, -1, 'x'])],
    pexpireat: () => [this.#key(), Date.now() + this.#pick([-5, 0, 5, 100, 30_000])],
    persist: () => [this.#key()],
    publish: () => [this.#pick(CHANNELS), this.#text()],
    spublish: () => [this.#pick(CHANNELS), this.#text()],
    ping: () => [],
  };

  #setOptions(): (string | number)[] {
    const all = [[], ['PX', 50], ['PX', 0], ['NX'], ['xx', 'px', 400], ['KEEPTTL'], ['nx', 'xx']];
    return this.#pick(all);
  }

  #zaddOptions(): string[] {
    return this.#pick([[], [], ['xx'], ['NX'], ['gt'], ['xx', 'LT', 'ch'], ['incr'], ['nx', 'gt']]);
  }

  #scored = () => [this.#score(), this.#member()];
  #withScores = () => (this.dice.chance(0.5) ? ['WITHSCORES'] : []);
  #key = () => this.#pick(KEYS);
  #index = () => this.#pick([0, 0, 1, 2, -1, -2, -9, 9, 'x']);
  #number = () =>
    this.#pick([0, 1, 2, -3, 1_000_000, '9223372036854775807', '1.5', 'x', ' 1', '01']);
  #score = () =>
    this.#pick([0, 1, -2, 3.25, 0.1, 1e18, '1e3', '-inf', 'inf', 'nan', 'x', '1700000000000']);
  #bound = () => this.#pick(['-inf', '+inf', '(0', '0', '1', '(3.25', '(x', '1700000000000']);
  #text = () => this.#pick(['', 'text', '5', '-1', '{"since":1,"extended":2}', '\xff\0', 'read']);
  #member = () =>
    this.#pick([...HOLDERS, 'h2:write', 'mode', 'nestjs-interlock', 'first', '1', 'occurrence']);
  #pick = <T>(items: readonly T[]) => this.dice.pick(items);
}
