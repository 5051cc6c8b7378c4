import { acquireStatus, clientActivity } from '../../core/internal/client-activity.js';
import { OrderedSet } from '../../core/collections/ordered-set.js';
import type { Clock } from '../../core/clock.js';
import {
  LockClientClosedError,
  LockConnectionError,
  LockOptionsError,
  LockTimeoutError,
} from '../../core/errors/index.js';
import { ClientLifecycle, measurePing } from '../../core/internal/client-lifecycle.js';
import { validateLeaderId, type LeaderOptions } from '../../core/election/election-backend.js';
import { LeaderLatch } from '../../core/election/leader-latch.js';
import {
  LeaderSelector,
  type LeaderSelectorOptions,
  type TakeLeadership,
} from '../../core/election/leader-selector.js';
import { handOffOf } from '../../core/hand-off.js';
import type { Lock, LockRecipe, MutexOptions } from '../../core/lock.js';
import type { LockActivity, LockClient, LockClientStatus } from '../../core/lock-client.js';
import type { LockEventEmitter } from '../../core/internal/lock-event-emitter.js';
import type { LockEvents, LockSubject } from '../../core/lock-events.js';
import { KeyUses } from '../../core/internal/key-uses.js';
import { PeerDeadlocks } from '../../core/deadlocks/peer-deadlocks.js';
import { LOCK_INSPECTION, type LockInspection } from '../../core/lock-inspection.js';
import type { OccurrenceMark } from '../../core/occurrence-mark.js';
import { MultiLock } from '../../core/multi-lock.js';
import { WaitScope } from '../../core/internal/wait-scope.js';
import { Waiters } from '../../core/internal/waiter-limits.js';
import { RedLockInspection } from './red-lock-inspection.js';
import { LocalQueues } from '../locks/local-queue.js';
import { RedisElection } from '../locks/redis-election.js';
import type { RedisLockOptions } from '../redis-options.js';
import { majorityHolders, type RedLockNodes } from './red-lock-nodes.js';
import { RedLockOccurrenceMark } from './red-lock-occurrence-mark.js';
import { validateMaxHold } from '../locks/redis-lease.js';
import { RedLock, validateRedLockLease } from './red-lock.js';
import type { RedLockContext } from './red-lock-hold.js';

/** What to give as `handOff`. */
export const NO_HAND_OFF = 'none with `nodes`: it is for locks on one server or cluster';

/** Settings and dependencies of a `RedLockClient`. */
interface RedLockClientSettings {
  readonly name: string;
  readonly nodes: RedLockNodes;
  readonly events: LockEventEmitter;
  readonly clock: Clock;
  readonly options: RedisLockOptions;
}

/** Mutexes on several independent Redis servers: see `RedLock`. Other locks are not available. */
export class RedLockClient implements LockClient {
  readonly name: string;
  readonly clock: Clock;
  /** @internal */
  readonly [LOCK_INSPECTION]: LockInspection;
  readonly #context: RedLockContext;
  readonly #kinds: KeyUses;
  readonly #lifecycle: ClientLifecycle;
  /** See `LockClient.limitWaits`. */
  readonly limitWaits = (wait: number): void => this.#lifecycle.limitWaits(wait);
  /** See `LockClient.refuse`. */
  readonly refuse = (): void => this.#lifecycle.refuse();
  /** See `LockClient.drain`. */
  readonly drain = (): Promise<void> => this.#lifecycle.drain();
  /** See `LockClient.unfinished`. */
  readonly unfinished = (): LockSubject[] => this.#lifecycle.unfinished();
  /** For `await using`: as `close`, but locks under which work still runs are kept until it ends. */
  readonly [Symbol.asyncDispose] = (): Promise<void> => this.close(undefined, 'keep');

  constructor(private readonly settings: RedLockClientSettings) {
    const { name, nodes, events, clock, options } = settings;
    const { wait = 'forever', watchdogTimeout = 30_000, connectTimeout = 15_000 } = options;
    const { nodeTimeout = defaultNodeTimeout(watchdogTimeout) } = options;
    this.name = name;
    this.clock = settings.clock;
    this.#kinds = new KeyUses(name);
    this.#context = {
      client: name,
      clock,
      events,
      wait,
      nodeTimeout,
      connectTimeout,
      servers: nodes.clients.length,
      serverIds: () => nodes.serverIds(),
      majority: nodes.majority,
      random: Math.random,
      accepts: 'all',
      waits: new OrderedSet(),
      waiters: new Waiters(name, options),
      holds: new OrderedSet(),
      candidates: new OrderedSet(),
      deadlocks: undefined,
      lines: new LocalQueues(),
    };
    this.#lifecycle = new ClientLifecycle(this.#context, {
      drained: async () => {}, // the clients of the servers wait for their releases
      disconnect: (ms) => nodes.close(ms),
    });
    const parts = nodes.clients.map((client) => client[LOCK_INSPECTION]);
    this[LOCK_INSPECTION] = new RedLockInspection(this.#context, parts, nodes);
    this.#context.deadlocks = new PeerDeadlocks(this.#context, this[LOCK_INSPECTION]);
  }

  mutex(key: string, options: MutexOptions = {}): RedLock {
    const { fair } = options;
    const handOff = handOffOf(options, undefined, { key, client: this.name });
    if (handOff) this.#refuse('handOff', handOff, NO_HAND_OFF, key);
    if (fair) this.#refuse('fair', fair, 'none: independent servers have no queue in common', key);
    return this.#mutex(key, 'mutex', 'mutex').lock;
  }

  semaphoreMutex(key: string): RedLock {
    return this.#mutex(key, 'semaphoreMutex', 'semaphore mutex').lock;
  }

  leaderLatch(key: string, options: LeaderOptions = {}): LeaderLatch {
    return new LeaderLatch(this.#election(key, 'leaderLatch', 'leader latch', options));
  }

  leaderSelector(
    key: string,
    takeLeadership: TakeLeadership,
    { autoRequeue = false, ...options }: LeaderSelectorOptions = {},
  ): LeaderSelector {
    const election = this.#election(key, 'leaderSelector', 'leader selector', options);
    return new LeaderSelector(election, takeLeadership, autoRequeue);
  }

  readWriteLock(key: string): never {
    return this.#refuseRecipe(key);
  }

  semaphore(key: string): never {
    return this.#refuseRecipe(key);
  }

  multiLock(locks: readonly Lock[]): MultiLock {
    const { wait, clock } = this.#context;
    return new MultiLock(locks, { wait, clock });
  }

  occurrenceMark(key: string): OccurrenceMark {
    const parts = this.settings.nodes.clients.map((client) => client.occurrenceMark(key));
    return new RedLockOccurrenceMark(this.#context, parts, key);
  }

  validateLease(lease: number | undefined, maxHold?: number): void {
    const about = { client: this.name };
    if (lease !== undefined) validateRedLockLease(lease, this.#context.nodeTimeout, about);
    validateMaxHold(maxHold, about);
  }

  on<E extends keyof LockEvents>(event: E, listener: (event: LockEvents[E]) => void): () => void {
    return this.settings.events.on(event, listener);
  }

  /** Status of the servers as a whole: a majority counts as one server does. */
  status(): LockClientStatus {
    const { states } = this.settings.nodes;
    const connected = states.filter((state) => state === 'CONNECTED').length;
    const servers = { connected, total: states.length };
    return { ...this[LOCK_INSPECTION].health(), ...acquireStatus(this.#context), servers };
  }

  /** Number of calls that wait, for whatever it is. @internal */
  get pending(): number {
    return this.#context.waits.size;
  }

  activity(): LockActivity[] {
    return clientActivity(this.#context);
  }

  async ping(timeout = 1_000): Promise<number> {
    const { nodes } = this.settings;
    return await measurePing(this.#context, timeout, () => nodes.ping(timeout));
  }

  /** As `LockClient.connect`: resolves when a majority of the servers is connected; the others may connect later. */
  async connect(): Promise<void> {
    const { name, clock, nodes } = this.settings;
    const { waits, accepts, connectTimeout } = this.#context;
    if (accepts !== 'all') throw new LockClientClosedError({ client: name });
    const wait = new WaitScope({ client: name, clock, open: waits }, { wait: connectTimeout });
    try {
      await wait.until(nodes.connect(this.#context.nodeTimeout));
    } catch (cause) {
      const { lastReason } = nodes;
      wait.end();
      await this.close(0); // nothing would end the wait for the connections any more
      if (cause instanceof LockOptionsError || cause instanceof LockClientClosedError) throw cause;
      const within = cause instanceof LockTimeoutError ? ` within ${connectTimeout} ms` : '';
      throw new LockConnectionError(
        `Lock client "${name}" could not connect to ${nodes.majority} of its ${nodes.clients.length} Redis servers${within} (${lastReason}). Check \`nodes\` and that the servers run, or raise \`connectTimeout\`.`,
        { client: name, cause },
      );
    } finally {
      wait.end();
    }
  }

  close(timeout = 5_000, unfinished: 'keep' | 'release' = 'release'): Promise<void> {
    return this.#lifecycle.close(timeout, unfinished);
  }

  #mutex(key: string, recipe: LockRecipe, kind: string) {
    const parts = this.settings.nodes.clients.map((client) => client.semaphoreMutex(key));
    this.#kinds.claim(parts[0]!.identity.name, kind, key);
    const lock = new RedLock(this.#context, key, parts, recipe === 'mutex', recipe);
    return { lock, parts };
  }

  #election(key: string, recipe: LockRecipe, kind: string, options: LeaderOptions) {
    const id = validateLeaderId(options, { key, client: this.name });
    const { lock, parts } = this.#mutex(key, recipe, kind);
    return new RedisElection(
      this.#context,
      {
        key,
        acquire: (request) => lock.acquire(request),
        holderIds: () => majorityHolders(this.#context, key, parts),
      },
      id,
    );
  }

  #refuseRecipe(key: string): never {
    const expected =
      'one server or cluster for this lock: on independent servers there are mutexes only';
    return this.#refuse('nodes', 'several servers', expected, key);
  }

  #refuse(option: string, value: unknown, expected: string, key: string): never {
    throw new LockOptionsError(option, value, expected, { key, client: this.name });
  }
}

/** Default of `nodeTimeout`: far below the lease, and enough for a healthy server. */
function defaultNodeTimeout(watchdogTimeout: number): number {
  return Math.min(Math.max(watchdogTimeout / 100, 50), 500, watchdogTimeout / 3);
}
