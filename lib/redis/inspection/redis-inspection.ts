import {
  type ClientHealth,
  clientHealth,
  type UrgentActivity,
  urgentActivity,
} from '../../core/internal/client-activity.js';
import {
  type KnownLocks,
  type LockInspection,
  type LockPlace,
  type ObservedLocks,
  readEach,
} from '../../core/lock-inspection.js';
import type { ExchangeLimits, ExchangeTopic, PeerReports } from '../../core/peer-reports.js';
import { LockName } from '../connection/lock-name.js';
import { serverAddresses } from '../connection/server-ids.js';
import { isReply } from '../connection/redis-error.js';
import { IdempotentRequests } from '../locks/idempotent-requests.js';
import { readHolders } from '../locks/lock-holders.js';
import { readCommands, writeCommands } from '../locks/read-write-commands.js';
import { fairCommands, reentrantCommands } from '../locks/mutex-commands.js';
import type { RecipeContext } from '../recipe-context.js';
import { releasePermitIds } from '../semaphores/permit-commands.js';
import { FoundLocks } from './found-locks.js';
import { readLockKey } from './read-lock-key.js';
import { expectReady, RedisReports } from './redis-reports.js';

/** State of the locks on one Redis or cluster: of those that are known already, and of those that a scan finds. */
export class RedisInspection implements LockInspection {
  readonly #scan: FoundLocks;
  #found = new Set<string>();

  constructor(
    private readonly context: RecipeContext,
    private readonly prefix: string,
  ) {
    this.#scan = new FoundLocks(context.connection, prefix);
  }

  get place(): LockPlace {
    const servers = serverAddresses(this.context.connection.settings.client);
    return { backend: 'redis', servers, prefix: this.prefix };
  }

  nameOf(key: string): string {
    return this.prefix + key;
  }

  keyOf(name: string): string {
    return name.slice(this.prefix.length);
  }

  health(): ClientHealth {
    const { watchdogTimeout, clock, connection, accepts } = this.context;
    const { state, suspendedAt } = connection;
    const isOver = clock.now() - suspendedAt > watchdogTimeout; // everything that was held is over, too
    return clientHealth(state === 'SUSPENDED' && isOver ? 'LOST' : state, accepts);
  }

  activity(most: number): UrgentActivity {
    return urgentActivity(this.context, most);
  }

  async locks({ names, limit, scan }: KnownLocks): Promise<ObservedLocks> {
    const { connection } = this.context;
    expectReady(this.context);
    const ours = [...names].filter((name) => name.startsWith(this.prefix));
    const known = new Set([...ours, ...this.#found]);
    // Where the known ones take all the room, what a scan finds could not be read.
    const found = known.size < limit ? await this.#scan.next(scan, known) : [];
    const all = [...new Set([...known, ...found])];
    const read = (name: string) => readLockKey(connection, new LockName(name));
    const { locks, refusals } = await readEach(all.slice(0, limit), read, isReply);
    this.#found = new Set(locks.map(({ name }) => name));
    return { locks, refusals, omitted: Math.max(0, all.length - limit) };
  }

  /** A holder of another process learns of it at its next renewal. */
  release(name: string, ids: readonly string[]): Promise<boolean> {
    return forceRelease(this.context, new LockName(name), ids);
  }

  exchange(limits: ExchangeLimits, topic: ExchangeTopic = 'inspector'): PeerReports {
    return new RedisReports(this.context, this.prefix, limits, topic);
  }
}

/** Releases the lock of the holder with these ids, never of a later holder; resolves to whether it held the lock. */
async function forceRelease(
  context: RecipeContext,
  name: LockName,
  ids: readonly string[],
): Promise<boolean> {
  expectReady(context);
  const type = await context.connection.read('type', name.redisKey);
  const release = type === 'string' ? releasePermits : releaseLock;
  const released = await release(context, name, ids);
  for (const hold of context.holds)
    if (hold.identity.name === name.redisKey && hold.backend.holders.some((id) => ids.includes(id)))
      hold.markLost('an operator has released it by force');
  return released;
}

async function releaseLock(
  context: RecipeContext,
  name: LockName,
  ids: readonly string[],
): Promise<boolean> {
  const { connection } = context;
  const holders = await readHolders(connection, name);
  let released = false;
  for (const { id, mode } of holders.filter((holder) => ids.includes(holder.id))) {
    const commands = {
      // The first wakes the waiters of a plain mutex, the second those in the queue of a fair one.
      alone: [reentrantCommands(context, name, false), fairCommands(context, name, false)],
      read: [readCommands(context, name, false)],
      write: [writeCommands(context, name, false)],
    }[mode];
    for (const each of commands) {
      const { script, keys, args } = each.release(id, '');
      if (Number(await connection.run(script, keys, args)) >= 0) released = true;
    }
  }
  return released;
}

async function releasePermits(
  context: RecipeContext,
  name: LockName,
  ids: readonly string[],
): Promise<boolean> {
  const { client } = context;
  const requests = new IdempotentRequests(context, name, { key: name.redisKey, client });
  return await releasePermitIds(context, name, requests, ids, '');
}
