import { runAcquire } from '../../core/internal/acquire.js';
import type { WaitScope } from '../../core/internal/wait-scope.js';
import type { Lock } from '../../core/lock.js';
import { type AcquireAll, MultiLock } from '../../core/multi-lock.js';
import { slotOf } from '../connection/cluster-slots.js';
import type { LockName } from '../connection/lock-name.js';
import type { RecipeContext } from '../recipe-context.js';
import { lockAcquire, lockRelease } from '../scripts/index.js';
import { takeBack } from './base-lock.js';
import { contend, type Contest } from './contend.js';
import { LocalQueuePlace } from './local-queue.js';
import {
  type AcquireCommands,
  type LockCommand,
  type LockCommands,
  waitTerms,
} from './lock-commands.js';
import { holderInfo, newHolder } from './lock-holders.js';
import { type RedisAcquireOptions, RedisLease } from './redis-lease.js';
import { RedisLock } from './redis-lock.js';

/**
 * Releases locks that one script has acquired with one script, too, if they are released in the same turn of the event
 * loop, as by their multi-lock. The command is sent at the end of that turn.
 */
class BatchedRelease {
  #keys: string[] = [];
  #each: LockCommand['args'][number][] = [];
  #until = -Infinity;
  #sent?: Promise<undefined>;

  constructor(private readonly context: RecipeContext) {}

  /** As `GuaranteedRelease.run`; resolves to `undefined`, as it is not known which of the locks had subscribers. */
  run({ keys, args: [holder, publish, ...each] }: LockCommand, until: number): Promise<undefined> {
    this.#keys.push(...keys);
    this.#each.push(...each);
    this.#until = Math.max(this.#until, until);
    this.#sent ??= Promise.resolve().then(() => this.#send([holder!, publish!]));
    return this.#sent;
  }

  async #send(common: LockCommand['args']): Promise<undefined> {
    const command = { script: lockRelease, keys: this.#keys, args: [...common, ...this.#each] };
    this.#keys = [];
    this.#each = [];
    this.#sent = undefined;
    await this.context.releases.run(command, this.#until);
  }
}

/** A multi-lock of these locks, which may be of other clients, too. */
export function redisMultiLock(context: RecipeContext, locks: readonly Lock[]): MultiLock {
  const { wait, clock } = context;
  return new MultiLock(locks, { wait, clock, takeTogether: (all) => acquireAll(context, all) });
}

/**
 * Returns a function that acquires the locks with one script, if that is possible: for plain mutexes of this client, on a
 * cluster in one slot. Locks that the caller holds are re-entered.
 */
function acquireAll(context: RecipeContext, locks: readonly Lock[]): AcquireAll | undefined {
  const parts = locks.filter((lock): lock is RedisLock => isPart(context, lock));
  if (parts.length < Math.max(2, locks.length)) return undefined;
  const slots = new Set(parts.map(({ identity }) => slotOf(identity.name)));
  if (slots.size > 1 && context.connection.isCluster) return undefined;
  return async (options, mayWait) => {
    const again = parts.map((lock) => lock.reenter(options));
    const others = parts.filter((_, i) => again[i] === undefined);
    try {
      const taken = others.length > 0 ? await take(context, others, options, mayWait) : [];
      if (taken === undefined) for (const lease of again) await lease?.release();
      const rest = taken?.values(); // not `shift`, which moves all others
      return rest && again.map((lease) => lease ?? (rest.next().value as RedisLease));
    } catch (error) {
      for (const lease of again) void lease?.release();
      throw error;
    }
  };
}

const isPart = (context: RecipeContext, lock: Lock) =>
  lock instanceof RedisLock && lock.isPlain && lock.identity.scope === context;

function take(
  context: RecipeContext,
  locks: readonly RedisLock[],
  given: RedisAcquireOptions,
  mayWait: boolean,
): Promise<RedisLease[] | undefined> {
  const options = { ...given }; // the caller may change its object while this waits
  const wait = mayWait ? context.wait : context.connectTimeout;
  const keys = locks.map(({ key }) => key);
  const key = keys.join(' + ');
  const request = { key, keys, recipe: 'mutex', options, wait, mayWait } as const;
  return runAcquire(context, request, (scope) =>
    contendForAll(context, locks, options, mayWait, scope),
  );
}

/**
 * It waits on the server, and locally only behind others that want the same locks: in the line of one of them it would keep
 * callers of this client from a lock that is free, as long as it waits for another. It stands in the lines while it has the locks.
 */
function contendForAll(
  context: RecipeContext,
  locks: readonly RedisLock[],
  options: RedisAcquireOptions,
  mayWait: boolean,
  wait: WaitScope,
): Promise<RedisLease[] | undefined> {
  const bases = locks.map(({ base }) => base);
  const each = bases.map((base) => base.settings.commands);
  const lockNames = locks.map(({ name }) => name);
  const names = each.map(({ redisKey }) => redisKey);
  const { method, lease = context.watchdogTimeout } = options;
  const holder = newHolder(context.holderIds);
  const contest: Contest<RedisLease[]> = {
    key: locks.map(({ key }) => key).join(' + '),
    names,
    commands: multiCommands(context, lockNames, each),
    request: { holder, lease, about: holderInfo(method), mayWait },
    line: { localQueue: 'waiters', redisKey: JSON.stringify(names) },
    granted: (grant) => {
      const released = new BatchedRelease(context);
      const release = released.run.bind(released);
      return bases.map((base, i) => {
        const place = new LocalQueuePlace(context.lines, each[i]!, false);
        return new RedisLease(base.hold(grant, holder, lease, options, place, release).hold);
      });
    },
    takeBack: (contention) =>
      takeBack(context, contention, lease, (mayFollow) => releaseOfAll(each, holder, mayFollow)),
  };
  const enter = () => contend(context, contest, wait);
  return context.kept.size === 0 ? enter() : giveBackKept(context, each, wait).then(enter);
}

/** Has the client give back those of the locks that it keeps for its next caller. */
async function giveBackKept(
  context: RecipeContext,
  locks: readonly LockCommands[],
  wait: WaitScope,
): Promise<void> {
  for (const lock of locks) {
    const place = new LocalQueuePlace(context.lines, lock, false);
    const isKept = !place.isFirst && place.onHandOff(() => false);
    if (isKept) await place.first(wait).finally(() => place.leave());
    else place.leave();
  }
}

/** Commands that acquire several plain mutexes at once; each is released by its own commands. */
function multiCommands(
  context: RecipeContext,
  names: readonly LockName[],
  locks: readonly LockCommands[],
): AcquireCommands {
  const keys = locks.map(({ redisKey }) => redisKey);
  /** The lock among whose waiters it stands, by the last answer. */
  const placeOf = (taken: number) => {
    const { publishCommand } = context.connection;
    return taken < 0 ? [] : [taken + 1, publishCommand, names[taken]!.channel];
  };
  const waitOf = (waited: number, taken: number) => {
    const terms = waitTerms(context, names, waited);
    return terms.length > 0 ? [...terms, ...placeOf(taken)] : [];
  };
  return {
    redisKey: keys.join(' '),
    leavesQueueEntry: true,
    maxSleep: context.watchdogTimeout,
    channelOf: (holder, taken, isRegistered) => locks[taken]!.channelOf(holder, 0, isRegistered),
    acquire: ({ lease, holder, about, mayWait }, waited, taken) => {
      const tombstones = locks.map((lock) => lock.tombstoneOf(holder));
      const wait = mayWait ? waitOf(waited, taken) : [];
      return {
        script: lockAcquire,
        keys,
        args: [lease, holder, about, keys.length, ...tombstones, ...wait],
      };
    },
  };
}

/** One command that releases plain mutexes of one holder. */
function releaseOfAll(
  locks: readonly LockCommands[],
  holder: string,
  mayFollow: boolean,
): LockCommand {
  const all = locks.map((lock) => lock.release(holder, mayFollow ? lock.tombstoneOf(holder) : ''));
  const [holderId, publish] = all[0]!.args;
  const each = all.flatMap(({ args }) => args.slice(2));
  return {
    script: lockRelease,
    keys: all.flatMap(({ keys }) => keys),
    args: [holderId!, publish!, ...each],
  };
}
