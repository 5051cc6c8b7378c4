import { LockName } from '../../../../lib/redis/connection/lock-name.js';
import type { GuardedWrite } from '../../../../lib/core/lease.js';
import type { Script } from '../../../../lib/redis/connection/script.js';
import { redisCommands, redisScript, type RedisWrite } from '../../../../lib/redis/redis-write.js';
import * as scripts from '../../../../lib/redis/scripts/index.js';
import type { Dice } from '../../dice.js';
import { toBytes } from '../server/reply.js';

/** Keys and arguments of a script, as bytes. */
interface Operands {
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

export interface ScriptCall extends Operands {
  readonly script: Script;
}

type ScriptName = Exclude<keyof typeof scripts, 'guardedWrite'>;

export const HOLDERS = ['h1', 'h2', 'h3'] as const;
/** Holders of permits: 12 bytes, and how many they are. */
const PERMIT_HOLDERS = [1, 2, 3].map(
  (count) => `permit-\0\xff-${count}\xe9${'\0\0\0'}${'\x01\x02\x03'[count - 1]}`,
);
/** As tombstones name them. */
export const ALL_HOLDERS = [
  ...HOLDERS.flatMap((holder) => [holder, `${holder}:write`]),
  ...PERMIT_HOLDERS.map((holder) => Buffer.from(holder, 'latin1').toString('hex')),
];
const LEASES = [1, 2, 5, 50, 400, 1_000, 30_000];
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
  #number = 1;

  constructor(private readonly dice: Dice) {}

  next(): ScriptCall {
    const { dice } = this;
    if (dice.chance(0.05)) return this.#guardedWrite();
    const name = dice.pick(Object.keys(this.#operands) as ScriptName[]);
    return { script: scripts[name], ...this.#spoilt(this.#operands[name]()) };
  }

  /** The sources of all that it calls. */
  get sources(): string[] {
    const names = Object.keys(this.#operands) as ScriptName[];
    const writes = WRITES.map((write) => (write() as RedisWrite<unknown>).script);
    return [...names.map((name) => scripts[name]), ...writes].map(({ source }) => source);
  }

  readonly #operands: Record<ScriptName, () => Operands> = {
    fairLockAcquire: () => {
      const { name, holder, lease } = this.#some('fair');
      const keys = [name.redisKey, name.queue, name.timeouts, name.alive];
      const args = [lease, holder, about(), this.#lease(), this.#lease(), this.#flag()];
      return {
        keys: this.#chance(0.5) ? [...keys, name.token] : keys,
        args: [...args, this.#publish(), name.channel, name.gone(holder)],
      };
    },
    fairLockRelease: () => {
      const { name, holder } = this.#some('fair');
      const keys = [name.redisKey, name.queue, name.timeouts, name.alive];
      const tombstone = this.#tombstone(name, holder);
      return { keys, args: [holder, this.#publish(), name.channel, this.#lease(), tombstone] };
    },
    lockAcquire: () => {
      const { name, holder, lease } = this.#some('lock');
      const names = this.#chance(0.3) ? ['lock', 'lock 2'].map((it) => new LockName(it)) : [name];
      const keys = names.map(({ redisKey }) => redisKey);
      const isFenced = names.length === 1 && this.#chance(0.5);
      const terms = [lease, holder, about(), names.length, ...names.map((it) => it.gone(holder))];
      const waiters = names.map((it) => it.waiters);
      const waits = this.#chance(0.6) ? [this.#integer(0, 9), this.#lease(), ...waiters] : [];
      const before = this.#integer(1, names.length);
      const other = [before, this.#publish(), names[before - 1]!.channel];
      const moves = waits.length > 0 && names.length > 1 && this.#chance(0.7);
      return {
        keys: isFenced ? [...keys, name.token] : keys,
        args: [...terms, ...waits, ...(moves ? other : [])],
      };
    },
    lockBury: () => {
      const { name, holder } = this.#some('lock');
      return { keys: [name.redisKey], args: [this.#tombstone(name, holder)] };
    },
    lockForceUnlock: () => {
      const { name } = this.#some('lock', 'fair');
      return {
        keys: [name.redisKey, name.queue, name.requests('c1')],
        args: [...this.#terms(), this.#publish(), name.channel, this.#waiters(name)],
      };
    },
    lockRelease: () => {
      const { name, holder } = this.#some('lock');
      const names = this.#chance(0.3) ? ['lock', 'lock 2'].map((it) => new LockName(it)) : [name];
      const each = names.flatMap((it) => [
        it.channel,
        this.#tombstone(it, holder),
        this.#waiters(it),
      ]);
      return { keys: names.map((it) => it.redisKey), args: [holder, this.#publish(), ...each] };
    },
    lockRenew: () => {
      const all = Array.from({ length: this.#integer(1, 3) }, () => this.#renewed());
      return { keys: all.flatMap(({ keys }) => keys), args: all.flatMap(({ args }) => args) };
    },
    lockToken: () => {
      const { name, holder } = this.#some('lock', 'fair');
      return { keys: [name.redisKey, name.token], args: [holder] };
    },
    lockView: () => {
      const { name } = this.#some('lock', 'fair', 'read/write', 'permits');
      return {
        keys: [name.redisKey, name.queue, name.permitQueue],
        args: [this.#integer(0, 4), 3],
      };
    },
    occurrenceRaise: () => {
      const { name } = this.#some('job');
      const occurrence = Date.now() + this.#pick([-5_000, -1_000, 0, 1_000, 90_000]);
      const request = this.#pick(['', 'q1', 'q2', 'q3']);
      return { keys: [name.occurrence], args: [occurrence, request, 60_000, this.#lease()] };
    },
    readLockAcquire: () => {
      const { name, holder, lease } = this.#some('read/write');
      const inside = this.#chance(0.3) ? `${this.#pick(HOLDERS)}:write` : '';
      return {
        keys: [name.redisKey, name.hold(holder), name.writers, name.readers],
        args: [lease, holder, about(), inside, this.#flag(), name.gone(holder)],
      };
    },
    readLockRelease: () => {
      const { name, holder } = this.#some('read/write');
      const tombstone = this.#tombstone(name, holder);
      return {
        keys: [name.redisKey, name.hold(holder), name.readers],
        args: [
          ...[holder, this.#publish(), name.tagged, name.readWriteChannel, tombstone],
          this.#waiters(name),
        ],
      };
    },
    readWriteForceUnlock: () => {
      const { name } = this.#some('read/write');
      const { redisKey, readers, readWriteChannel } = name;
      const mode = this.#pick(['read', 'write']);
      return {
        keys: [redisKey, readers, name.requests('c1')],
        args: [...this.#terms(), this.#publish(), readWriteChannel, mode, this.#waiters(name)],
      };
    },
    tokenRaise: () => {
      const { name, holder } = this.#some('lock', 'fair');
      return { keys: [name.redisKey, name.token], args: [holder, this.#integer(0, 9)] };
    },
    writeLockAcquire: () => {
      const { name, holder, lease } = this.#some('read/write');
      const field = `${holder}:write`;
      return {
        keys: [name.redisKey, name.hold(field), name.writers],
        args: [
          ...[lease, field, about(), this.#lease(), this.#flag(), name.gone(field)],
          ...(this.#chance(0.6) ? [this.#integer(0, 9), this.#lease(), name.waiters] : []),
        ],
      };
    },
    writeLockRelease: () => {
      const { name, holder } = this.#some('read/write');
      const field = `${holder}:write`;
      const tombstone = this.#tombstone(name, field);
      return {
        keys: [name.redisKey, name.hold(field), name.writers, name.readers],
        args: [
          ...[field, this.#publish(), name.tagged, name.readWriteChannel, tombstone],
          this.#waiters(name),
        ],
      };
    },
    latchAwait: () => ({ keys: [this.#some('latch').name.redisKey], args: [] }),
    latchCountDown: () => this.#request('latch', []),
    latchDelete: () => this.#request('latch', []),
    latchSet: () => this.#request('latch', [this.#integer(1, 3)]),
    permitAcquire: () => {
      const { name, lease } = this.#some('permits');
      const { redisKey, permitTimeouts, wantedPermits, permitQueue, alive } = name;
      const holder = this.#pick(PERMIT_HOLDERS);
      const wanted = this.#pick(['', '2', '3', '3']);
      const [waits, isFair, timeToLive] = [this.#flag(), this.#flag(), this.#flag()];
      return {
        keys: [redisKey, permitTimeouts, wantedPermits, permitQueue, alive],
        args: [
          ...[lease, holder, textOf(holder), wanted, this.#publish(), waits, isFair],
          ...[this.#lease(), name.semaphoreChannel, name.gone(textOf(holder)), timeToLive],
          ...[this.#waiters(name), this.#integer(0, 9)],
        ],
      };
    },
    permitCount: () => {
      const { redisKey, permitTimeouts, wantedPermits } = this.#some('permits').name;
      const wanted = this.#pick(['', '2', '3']);
      return { keys: [redisKey, permitTimeouts, wantedPermits], args: [wanted] };
    },
    permitHolders: () => ({ keys: [this.#some('permits').name.permitTimeouts], args: [5] }),
    permitLease: () => ({
      keys: [this.#some('permits').name.permitTimeouts],
      args: [this.#permit()],
    }),
    permitRelease: () => {
      const { name } = this.#some('permits');
      const { redisKey, permitTimeouts, permitQueue, alive, wantedPermits } = name;
      const holder = this.#pick(PERMIT_HOLDERS);
      const text = textOf(holder);
      return {
        keys: [redisKey, permitTimeouts, permitQueue, alive, name.extended(text), wantedPermits],
        args: [
          ...[holder, text, this.#publish(), name.semaphoreChannel],
          ...[this.#tombstone(name, text), this.#pick(['', '50', '30000']), this.#waiters(name)],
        ],
      };
    },
    permitReleaseIds: () => {
      const { name } = this.#some('permits');
      const { redisKey, permitTimeouts, permitQueue, wantedPermits } = name;
      const ids = Array.from({ length: this.#integer(1, 2) }, () => this.#permit());
      const timeToLive = this.#pick(['', '50', '30000']);
      return {
        keys: [redisKey, permitTimeouts, permitQueue, wantedPermits, name.requests('c1')],
        args: [
          ...[...this.#terms(), this.#publish(), name.semaphoreChannel, timeToLive],
          ...[this.#waiters(name), ...ids],
        ],
      };
    },
    permitResize: () => {
      const { name } = this.#some('permits');
      const { redisKey, permitTimeouts, permitQueue } = name;
      const mode = this.#pick(['try', 'set', 'add']);
      return {
        keys: [redisKey, permitTimeouts, permitQueue, name.requests('c1')],
        args: [
          ...[...this.#terms(), this.#publish(), name.semaphoreChannel, this.#waiters(name)],
          ...[mode, this.#integer(-2, 4)],
        ],
      };
    },
    permitSetLease: () => {
      const { name } = this.#some('permits');
      const args = [...this.#terms(), this.#permit(), this.#lease()];
      return { keys: [name.permitTimeouts, name.requests('c1')], args };
    },
    permitToken: () => {
      const { permitTimeouts, token } = this.#some('permits').name;
      return { keys: [permitTimeouts, token], args: [this.#permit()] };
    },
    semaphoreAcquire: () => {
      const { name } = this.#some('semaphore');
      const args = [...this.#terms(), this.#integer(1, 3)];
      return { keys: [name.redisKey, name.requests('c1')], args };
    },
    semaphoreChange: () => {
      const mode = this.#pick(['release', 'add', 'release-if-exists', 'try', 'drain']);
      const life = this.#chance(0.3) ? [this.#lease()] : [];
      return this.#request('semaphore', [mode, this.#integer(-1, 3), ...life]);
    },
    semaphoreCount: () => ({ keys: [this.#some('semaphore').name.redisKey], args: [] }),
    semaphoreUndo: () => this.#request('semaphore', []),
  };

  #guardedWrite(): ScriptCall {
    const { script, keys, args } = this.#pick(WRITES)() as RedisWrite<unknown>;
    const all = Array.from({ length: this.#integer(1, 2) }, () => this.#renewed());
    const checked = all.flatMap((it) => [it.args[0]!, it.args[2]!]);
    const requests = new LockName('lock').requests('h1:1');
    return {
      script,
      keys: [requests, ...all.flatMap((it) => it.keys), ...keys],
      args: [...this.#terms(), all.length, ...checked, ...args.map(toBytes)],
    };
  }

  /** One hold of those that a renewal is for. */
  #renewed(): Operands {
    const kind = this.#pick(['alone', 'write', 'read', 'permits']);
    const terms = [this.#chance(0.2) ? 0 : this.#lease(), kind, this.#integer(0, 3), this.#flag()];
    if (kind === 'permits') {
      const { name } = this.#some('permits');
      const holder = this.#pick(PERMIT_HOLDERS);
      return {
        keys: [name.permitTimeouts, name.extended(textOf(holder))],
        args: [holder, ...terms],
      };
    }
    const { name, holder } = this.#some(kind === 'alone' ? 'lock' : 'read/write');
    const field = kind === 'write' ? `${holder}:write` : holder;
    const hold = kind === 'alone' ? name.redisKey : name.hold(field);
    return { keys: [name.redisKey, hold], args: [field, ...terms] };
  }

  #request(kind: string, args: readonly (string | number)[]): Operands {
    const { name } = this.#some(kind);
    const channel = kind === 'latch' ? name.latchChannel : name.semaphoreChannel;
    return {
      keys: [name.redisKey, name.requests('c1')],
      args: [...this.#terms(), this.#publish(), channel, ...args],
    };
  }

  /** Number, first that is not settled, life. */
  #terms(): number[] {
    if (this.#chance(0.7)) this.#number += 1;
    const number = Math.max(1, this.#number - this.#pick([0, 0, 0, 1, 4]));
    return [number, Math.max(1, number - this.#integer(0, 3)), this.#pick([50, 960_000])];
  }

  #some(...kinds: readonly string[]) {
    const kind = this.#pick(kinds);
    const key = this.#chance(0.97) ? kind : this.#pick(['lock', 'fair', 'read/write', 'permits']);
    return { name: new LockName(key), holder: this.#pick(HOLDERS), lease: this.#lease() };
  }

  /** Now and then one of the operands is of another kind. */
  #spoilt({ keys, args }: Operands): Operands {
    if (!this.#chance(0.03)) return { keys, args };
    if (this.#chance(0.5))
      return { keys: replaced(keys, this.#pick(keys), this.#pick(keys)), args };
    const isHolder = (arg: string | number) => PERMIT_HOLDERS.includes(String(arg));
    const arg = args.length > 0 ? this.#pick(args) : '';
    return isHolder(arg) ? { keys, args } : { keys, args: replaced(args, arg, this.#pick(ODD)) };
  }

  #permit(): string {
    const holder = this.#pick(PERMIT_HOLDERS);
    return `${holder.slice(0, 12)}\0\0\0${this.#pick(['\0', '\x01', '\x02'])}`;
  }

  #waiters(name: LockName): string {
    return this.#chance(0.7) ? name.waiters : '';
  }

  #tombstone(name: LockName, holder: string): string {
    return this.#chance(0.1) ? name.gone(holder) : '';
  }

  #publish = () => this.#pick(['publish', 'publish', 'spublish']);
  #lease = () => this.#pick(LEASES);
  #flag = () => this.#pick(['0', '1']);
  #chance = (probability: number) => this.dice.chance(probability);
  #integer = (low: number, high: number) => this.dice.integer(low, high);
  #pick = <T>(items: readonly T[]) => this.dice.pick(items);
}

const about = () => '{"since":1}';
const textOf = (permitHolder: string) => Buffer.from(permitHolder, 'latin1').toString('hex');

function replaced<T>(list: readonly T[], old: T, by: T): T[] {
  return list.map((item) => (item === old ? by : item));
}
