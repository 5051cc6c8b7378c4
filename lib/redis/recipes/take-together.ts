import type { Lock } from '../../core/lock.js';
import type { TakeTogether } from '../../core/take-together.js';
import { runAcquire } from '../../core/run-acquire.js';
import type { WaitScope } from '../../core/wait-scope.js';
import { withWait } from '../../core/with-wait.js';
import { slotOf } from '../connection/slot-of.js';
import { aboutUs } from './about-us.js';
import { Contention } from './contention.js';
import { LinePlace } from './line-place.js';
import { multiCommands } from './multi-commands.js';
import type { RecipeContext } from './recipe-context.js';
import type { RedisAcquireOptions } from './redis-acquire-options.js';
import { RedisLease } from './redis-lease.js';
import { RedisLock } from './redis-lock.js';
import { TogetherRelease } from './together-release.js';

/**
 * What takes the locks with one script, if one can: plain mutexes of that client, and of a cluster in one slot. Those that
 * the caller holds are re-entered.
 */
export function takeTogether(
  context: RecipeContext,
  locks: readonly Lock[],
): TakeTogether | undefined {
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
      return taken && again.map((lease) => lease ?? taken.shift()!);
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
  options: RedisAcquireOptions,
  mayWait: boolean,
): Promise<RedisLease[] | undefined> {
  const { wait = mayWait ? context.wait : context.connectTimeout } = options;
  const keys = locks.map(({ key }) => key);
  const request = {
    key: keys.join(' + '),
    keys,
    recipe: 'mutex',
    options: withWait(options, wait),
  } as const;
  return runAcquire(context, request, (scope, contended) =>
    contend(context, locks, options, mayWait, scope, contended),
  );
}

/**
 * Invariant: places in the lines of this process are taken in the order of the names, as everybody does, and the locks on
 * the server all at once: so nobody waits in a circle.
 */
async function contend(
  context: RecipeContext,
  locks: readonly RedisLock[],
  options: RedisAcquireOptions,
  mayWait: boolean,
  wait: WaitScope,
  contended: () => void,
): Promise<RedisLease[] | undefined> {
  const bases = locks.map(({ base }) => base);
  const commands = multiCommands(
    context,
    bases.map((base) => base.settings.commands),
  );
  const { method, lease = context.watchdogTimeout } = options;
  const holder = context.newHolder();
  const request = { holder, lease, about: aboutUs(method), mayWait };
  const key = locks.map((lock) => lock.key).join(' + ');
  const contention = new Contention(context, commands, request, wait, key, contended);
  const lines: LinePlace[] = [];
  let leases: RedisLease[] | undefined;
  try {
    for (const base of bases) {
      const line = new LinePlace(context.lines, base.settings.commands, mayWait);
      lines.push(line);
      if (line.isFirst) continue;
      if (!mayWait) return undefined;
      contended();
      await wait.until(line.first());
    }
    const granted = await contention.run();
    const released = new TogetherRelease(context);
    wait.throwIfEnded(); // a grant that comes too late is none
    leases =
      granted &&
      bases.map((base, i) => {
        const leave = () => lines[i]!.leave();
        const release = released.run.bind(released);
        return new RedisLease(base.hold(granted, holder, lease, options, leave, release).hold);
      });
    return leases;
  } finally {
    contention.end();
    if (leases === undefined) for (const line of lines) line.leave();
    if (leases === undefined && contention.isOnServer)
      for (const base of bases) base.takeBack(contention.inFlight, holder, lease);
  }
}
