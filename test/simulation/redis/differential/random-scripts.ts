import { LockName } from '../../../../lib/redis/connection/lock-name.js';
import type { GuardedWrite } from '../../../../lib/core/lease.js';
import type { Script } from '../../../../lib/redis/connection/script.js';
import { redisCommands, redisScript, type RedisWrite } from '../../../../lib/redis/redis-write.js';
import * as scripts from '../../../../lib/redis/scripts/index.js';
import type { Dice } from '../../dice.js';
import { toBytes } from '../../../../lib/testing/redis/server/reply.js';
import { lockCalls } from './lock-calls.js';
import { type Operands, PERMIT_HOLDERS, RandomOperands } from './random-operands.js';
import { readWriteCalls } from './read-write-calls.js';
import { semaphoreCalls } from './semaphore-calls.js';

export interface ScriptCall extends Operands {
  readonly script: Script;
}

type ScriptName = Exclude<keyof typeof scripts, 'guardedWrite'>;

/** No long numbers: some scripts count up to them. */
const ODD = ['0', '-3', '7.5', 'x', '', '700'];

const WRITES: readonly (() => GuardedWrite<unknown>)[] = [
  () => redisScript('return redis.call("incrby", KEYS[1], ARGV[1])', ['written'], [3]),
  () => redisScript('return { 1, "two", { KEYS[1], false, 4.7 } }', ['written']),
  () => redisScript('return redis.call("hgetall", KEYS[1])', ['written']),
  () =>
    redisScript('redis.call("set", KEYS[1], "text") return redis.call("lpop", KEYS[1])', [
      'written',
    ]),
  () =>
    redisCommands([
      ['incr', 'written'],
      ['set', 'written', 'text'],
    ]),
];

/** Calls of all scripts, with few locks, few holders and short leases, and now and then with something that does not fit. */
export class RandomScripts {
  readonly #draw: RandomOperands;
  readonly #calls: Record<ScriptName, () => Operands>;

  constructor(dice: Dice) {
    const draw = (this.#draw = new RandomOperands(dice));
    this.#calls = { ...lockCalls(draw), ...readWriteCalls(draw), ...semaphoreCalls(draw) };
  }

  next(): ScriptCall {
    const draw = this.#draw;
    if (draw.chance(0.05)) return this.#guardedWrite();
    const name = draw.pick(Object.keys(this.#calls) as ScriptName[]);
    return { script: scripts[name], ...this.#spoilt(this.#calls[name]()) };
  }

  /** The sources of all that it calls. */
  get sources(): string[] {
    const names = Object.keys(this.#calls) as ScriptName[];
    const writes = WRITES.map((write) => (write() as RedisWrite<unknown>).script);
    return [...names.map((name) => scripts[name]), ...writes].map(({ source }) => source);
  }

  #guardedWrite(): ScriptCall {
    const draw = this.#draw;
    const { script, keys, args } = draw.pick(WRITES)() as RedisWrite<unknown>;
    const all = Array.from({ length: draw.integer(1, 2) }, () => draw.renewed());
    const checked = all.flatMap((it) => [it.args[0]!, it.args[2]!]);
    const requests = new LockName('lock').requests('h1:1');
    return {
      script,
      keys: [requests, ...all.flatMap((it) => it.keys), ...keys],
      args: [...draw.terms(), all.length, ...checked, ...args.map(toBytes)],
    };
  }

  /** Now and then one of the operands is of another kind. */
  #spoilt({ keys, args }: Operands): Operands {
    const draw = this.#draw;
    if (!draw.chance(0.03)) return { keys, args };
    if (draw.chance(0.5)) return { keys: replaced(keys, draw.pick(keys), draw.pick(keys)), args };
    const isHolder = (arg: string | number) => PERMIT_HOLDERS.includes(String(arg));
    const arg = args.length > 0 ? draw.pick(args) : '';
    return isHolder(arg) ? { keys, args } : { keys, args: replaced(args, arg, draw.pick(ODD)) };
  }
}

function replaced<T>(list: readonly T[], old: T, by: T): T[] {
  return list.map((item) => (item === old ? by : item));
}
