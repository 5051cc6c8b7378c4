import { randomUUID } from 'node:crypto';
import type { Clock } from '../core/clock.js';
import type { ErrorPolicy } from '../core/election/election-backend.js';
import type { PeerDeadlocks } from '../core/deadlocks/peer-deadlocks.js';
import type { Candidate } from '../core/internal/client-lifecycle.js';
import { emitEndangered } from '../core/internal/endangered.js';
import type { ClientHold } from '../core/internal/hold.js';
import type { LockEventEmitter } from '../core/internal/lock-event-emitter.js';
import { OrderedSet } from '../core/collections/ordered-set.js';
import type { KeptLock } from '../core/kept-lock.js';
import { WaitingLines } from '../core/collections/waiting-line.js';
import type { WaitScope } from '../core/internal/wait-scope.js';
import { type WaiterLimits, Waiters } from '../core/internal/waiter-limits.js';
import type { LockScope, Wait } from '../core/lock.js';
import type { RetryPolicy } from './connection/retry-policies.js';
import type { AclEntry, ZooKeeperConnection } from './connection/zookeeper-connection.js';
import type { LockPathSettings } from './lock-path.js';
import type { SessionWorker } from './session-worker/session-worker.js';
import { DelayedWatches } from './locks/delayed-watches.js';
import { KnownQueues } from './locks/known-queues.js';
import { ContainerParents } from './nodes/container-parents.js';
import { GuaranteedDelete } from './nodes/guaranteed-delete.js';
import { SharedListings } from './nodes/shared-listings.js';

/** Parts and settings of a client. Times are in milliseconds. */
export interface ZooKeeperLockClientSettings extends LockPathSettings, LockScope, WaiterLimits {
  readonly name: string;
  readonly connection: ZooKeeperConnection;
  readonly events: LockEventEmitter;
  readonly clock: Clock;
  /** Makes the unique part of the name of each lock node. Default: a random UUID. */
  readonly newId?: () => string;
  /** Prefix of every path, without a trailing slash; created with the parents of a lock if missing. Default: none. */
  readonly chroot?: string;
  readonly connectTimeout: number;
  readonly wait: Wait;
  readonly retryPolicy: RetryPolicy;
  /** What ends a hold of a lock, except in elections. Default: `session`. */
  readonly errorPolicy?: ErrorPolicy;
  readonly acl?: readonly AclEntry[];
  /** Data of lock nodes without data of their own. Default: the address of this host, looked up on connect. */
  readonly nodeData?: Buffer;
  /** Time after which the node of a holder that did not queue is watched. Default: 100. */
  readonly watchAfter?: number;
  /** Keeps the session while the event loop is blocked. */
  readonly worker?: Pick<SessionWorker, 'start' | 'close'> | undefined;
  /** Whether its server is in this process, so that no other process can reach it. Default: false. */
  readonly isLocal?: boolean;
}

/** State that one client shares with all of its recipes. Its identity is the scope of re-entry. */
export interface RecipeContext extends LockScope {
  /** Name of the client. */
  readonly client: string;
  readonly connection: ZooKeeperConnection;
  readonly chroot: string;
  readonly acl?: readonly AclEntry[] | undefined;
  /** List of the ephemeral nodes; `undefined` if they are open to all, as those of a driver that cannot create with a list. */
  readonly nodeAcl?: readonly AclEntry[] | undefined;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly events: LockEventEmitter;
  readonly retryPolicy: RetryPolicy;
  readonly parents: ContainerParents;
  readonly removals: GuaranteedDelete;
  readonly listings: SharedListings;
  readonly queues: KnownQueues;
  /** Acquires that may hand their lock on: see `HandedNodes`. */
  readonly lines: WaitingLines<unknown>;
  readonly delayedWatches: DelayedWatches;
  /** Bound of an acquire without a `wait`. */
  readonly wait: Wait;
  /** Bound in ms of a `tryAcquire` without a `wait`, which only waits for a connection. */
  readonly connectTimeout: number;
  /** Data of lock nodes. */
  nodeData: Buffer;
  /** Which acquires are granted: from shutdown on only those inside held locks, in the end none. */
  accepts: 'all' | 'nested' | 'none';
  /** Why the servers cannot be asked now, if so. */
  readonly trouble: () => Error | undefined;
  /** Pending acquires. */
  readonly waits: OrderedSet<WaitScope>;
  /** Those of them that may wait for others, by key. */
  readonly waiters: Waiters;
  /** Held locks. */
  readonly holds: OrderedSet<ClientHold>;
  /** Locks that no caller uses, kept for the next one. */
  readonly kept: OrderedSet<KeptLock>;
  /** Participants of elections. */
  readonly candidates: OrderedSet<Candidate>;
  /** Deadlocks with other processes; `undefined` if no other process can reach the locks. */
  deadlocks: PeerDeadlocks | undefined;
}

/** Creates the state that the recipes of a client share. */
export function makeRecipeContext(settings: ZooKeeperLockClientSettings): RecipeContext {
  const { name, connection, events, clock, connectTimeout, wait, retryPolicy, acl } = settings;
  const { watchAfter = 100, newId = randomUUID, serverIds, chroot = '' } = settings;
  const holds = new OrderedSet<ClientHold>();
  let lastReason = 'no server has answered';
  events.on('connection', ({ reason }) => void (lastReason = reason));
  connection.onDoubt(() => emitEndangered(events, holds));
  return {
    client: name,
    connection,
    chroot,
    acl,
    nodeAcl: connection.createsWithAcl ? acl : undefined,
    serverIds,
    clock,
    newId,
    events,
    retryPolicy,
    wait,
    connectTimeout,
    parents: new ContainerParents(connection, name, acl),
    removals: new GuaranteedDelete(connection, clock, (error) =>
      process.emitWarning(
        `Lock client "${name}" is not allowed to remove a lock node, so the lock stays taken: ${error.message}. It tries again for as long as its session lives; closing the client ends the session.`,
      ),
    ),
    listings: new SharedListings(connection, clock),
    queues: new KnownQueues(connection),
    lines: new WaitingLines(),
    delayedWatches: new DelayedWatches(clock, watchAfter),
    nodeData: Buffer.alloc(0),
    accepts: 'all',
    trouble: () =>
      connection.isConnected ? undefined : new Error(`no connection to ZooKeeper: ${lastReason}`),
    waits: new OrderedSet(),
    waiters: new Waiters(name, settings),
    holds,
    kept: new OrderedSet(),
    candidates: new OrderedSet(),
    deadlocks: undefined,
  };
}
