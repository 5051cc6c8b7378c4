import { randomUUID } from 'node:crypto';
import type { Clock } from '../core/clock.js';
import type { PeerDeadlocks } from '../core/deadlocks/peer-deadlocks.js';
import type { Candidate } from '../core/internal/client-lifecycle.js';
import type { ClientHold } from '../core/internal/hold.js';
import type { LockEventEmitter } from '../core/internal/lock-event-emitter.js';
import { OrderedSet } from '../core/collections/ordered-set.js';
import type { KeptLock } from '../core/kept-lock.js';
import type { WaitScope } from '../core/internal/wait-scope.js';
import { Waiters } from '../core/internal/waiter-limits.js';
import type { LockScope, Wait } from '../core/lock.js';
import type { RedisConnection } from './connection/redis-connection.js';
import { replyText } from './connection/redis-error.js';
import type { ReplicaPolicy } from './connection/replicas.js';
import { Watchdog } from './connection/watchdog.js';
import { GuaranteedRelease } from './locks/guaranteed-release.js';
import { LocalQueues } from './locks/local-queue.js';
import type { HolderIds } from './locks/lock-holders.js';
import { RequestRecords } from './connection/request-numbers.js';
import type { RedisLockOptions } from './redis-options.js';
import { RenewalWorker } from './renewal-worker/renewal-worker.js';

/** Parts and options of a client. */
export interface RedisLockClientSettings {
  readonly name: string;
  readonly connection: RedisConnection;
  readonly events: LockEventEmitter;
  readonly clock: Clock;
  readonly options: RedisLockOptions;
  /**
   * Returns numbers from 0 to below 1, at which renewals are spread over time.
   *
   * @default Math.random
   */
  readonly random?: () => number;
}

/** State that a client shares with all of its recipes. Its identity is the scope of re-entry. Times are in milliseconds. */
export interface RecipeContext extends LockScope {
  /** Name of the client. */
  readonly client: string;
  readonly connection: RedisConnection;
  readonly clock: Clock;
  readonly events: LockEventEmitter;
  readonly renewal: Watchdog;
  /** Renews while the event loop is blocked. */
  readonly renewalWorker?: RenewalWorker | undefined;
  readonly releases: GuaranteedRelease;
  readonly lines: LocalQueues;
  readonly requests: RequestRecords;
  /** Bound on the wait of an acquire that sets none. */
  readonly wait: Wait;
  /** Bound on `tryAcquire` without a `wait`, which only waits for a connection. */
  readonly connectTimeout: number;
  /** Lease of a lock that is renewed. */
  readonly watchdogTimeout: number;
  /** Time that each waiter of a fair lock adds to the deadlines of those behind it. */
  readonly fairLockWaitTimeout: number;
  /** Time after which the server forgets a semaphore of which no permit is held; '': it never does. */
  readonly semaphoreTimeToLive: number | '';
  readonly replicas?: ReplicaPolicy;
  readonly holderIds: HolderIds;
  /** Which acquires are granted: from shutdown on only those inside held locks, in the end none. */
  accepts: 'all' | 'nested' | 'none';
  /** Acquires under way. */
  readonly waits: OrderedSet<WaitScope>;
  /** Those of them that may wait for others, by key. */
  readonly waiters: Waiters;
  /** Locks held. */
  readonly holds: OrderedSet<ClientHold>;
  /** Locks that no caller uses, kept for the next one. */
  readonly kept: OrderedSet<KeptLock>;
  /** Participants of elections. */
  readonly candidates: OrderedSet<Candidate>;
  /** Deadlocks with other processes. */
  deadlocks: PeerDeadlocks | undefined;
}

/** Creates the state that the recipes of a client share. */
export function makeRecipeContext(settings: RedisLockClientSettings): RecipeContext {
  const { name, connection, events, clock, options, random } = settings;
  const { wait = 'forever', connectTimeout = 15_000, replicas } = options;
  const { watchdogTimeout = 30_000, fairLockWaitTimeout = 300_000 } = options;
  const { semaphoreTimeToLive = '' } = options;
  const releases = new GuaranteedRelease(connection, clock, warnOnRefusedRelease(name));
  const worker = options.renewalWorker && new RenewalWorker(name, options, clock);
  return {
    client: name,
    connection,
    serverIds: () => connection.serverIds(),
    clock,
    events,
    wait,
    connectTimeout,
    watchdogTimeout,
    fairLockWaitTimeout,
    semaphoreTimeToLive,
    replicas,
    renewal: new Watchdog(connection, clock, random, worker?.mirror),
    renewalWorker: worker,
    releases,
    lines: new LocalQueues(),
    requests: new RequestRecords(),
    holderIds: { client: randomUUID(), last: 0 },
    accepts: 'all',
    waits: new OrderedSet(),
    waiters: new Waiters(name, options),
    holds: new OrderedSet(),
    kept: new OrderedSet(),
    candidates: new OrderedSet(),
    deadlocks: undefined,
  };
}

/** Ends what its client has in the background, and the connection. */
export async function disconnect(context: RecipeContext): Promise<void> {
  context.releases.close();
  context.connection.close();
  await context.renewalWorker?.close();
}

/** Returns a function that warns why the server refused a release, once per reason: reasons are the same for all locks. */
function warnOnRefusedRelease(client: string): (error: Error) => void {
  const told = new Set<string>();
  return (error) => {
    const refusal = replyText(error);
    if (told.has(refusal)) return;
    told.add(refusal);
    process.emitWarning(
      `Redis did not allow lock client "${client}" to release a lock, or to wake its waiters; the lock may stay taken until its lease expires: ${refusal}. Check the permissions of the user, also those on channels.`,
    );
  };
}
