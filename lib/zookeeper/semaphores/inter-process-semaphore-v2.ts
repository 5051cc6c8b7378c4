import { LockOptionsError } from '../../core/errors/index.js';
import type { Hold } from '../../core/internal/hold.js';
import { runWithLease } from '../../core/internal/lease-handle.js';
import { ownHolder } from '../../core/internal/own-holder.js';
import { validateAcquireOptions, validatePermits } from '../../core/internal/validation.js';
import type { Lease } from '../../core/lease.js';
import type {
  Wait,
  CountingSemaphore,
  LockIdentity,
  LockRecipe,
  PermitOptions,
} from '../../core/lock.js';
import type { LockSettings } from '../lock-path.js';
import { type Acquisition, runAcquisition } from '../locks/acquisition.js';
import { standardLockInternalsDriver } from '../locks/lock-drivers.js';
import { LockHold } from '../locks/lock-hold.js';
import { type GrantedAttempt, LockQueue } from '../locks/lock-internals.js';
import { ZooKeeperLease } from '../locks/zookeeper-lease.js';
import { listChildren } from '../nodes/node-requests.js';
import { OwnedNode } from '../nodes/owned-node.js';
import { sortKey } from '../locks/lock-drivers.js';
import { sortedNames } from '../locks/sorted-names.js';
import type { RecipeContext } from '../recipe-context.js';
import type { SharedCountReader } from '../shared/shared-count.js';
import { LEASE_NAME, LeaseAttempt } from './lease-attempt.js';

/** The gate, while we hold it. */
interface OpenGate {
  readonly watch: OwnedNode;
  /** Lets the next waiter in. The deletion goes out in this tick. */
  close(): void;
}

/** The mutex in front of a semaphore: one acquire at a time waits for permits, in the order of arrival. */
export class SemaphoreGate {
  readonly #queue: LockQueue;

  constructor(
    private readonly context: RecipeContext,
    directory: string,
  ) {
    this.#queue = new LockQueue(context, directory);
  }

  /** Queues; rejects with the error that ended the wait. */
  async enter(acquisition: Acquisition, onLost: () => void): Promise<OpenGate> {
    const plan = { driver: standardLockInternalsDriver };
    const gate = await this.#queue.enter(
      acquisition,
      () => plan,
      (granted) => this.#open(granted, onLost),
    );
    return gate!; // an acquire that may wait ends with a grant or an error
  }

  #open({ attempt, session }: GrantedAttempt, onLost: () => void): OpenGate {
    const { removals } = this.context;
    const owner = { nodeLost: onLost, nodeRevoked: () => {} };
    const watch = attempt.ownWatch ?? new OwnedNode(this.context, attempt.node);
    watch.guard(session, owner);
    const close = () => {
      watch.stop();
      void removals.remove(attempt.node).then((isGone) => attempt.left(isGone));
    };
    return { watch, close };
  }
}

/** Maximum number of permits of one acquire: each is a node that the servers create and remove, and every client lists. */
const MOST_AT_ONCE = 1_000;

/** Settings of a semaphore. */
interface SemaphoreSettings extends LockSettings {
  /** A fixed number, or one that may change while it is in use; lowering it takes no permit from a holder. */
  readonly permits: number | SharedCountReader;
  readonly recipe?: LockRecipe & ('semaphore' | 'semaphoreMutex');
}

/**
 * A semaphore on ZooKeeper, wire-compatible with Curator's class of the same name: a lease node for every permit in
 * `leases`, and a mutex in `locks`, held by the acquire that waits for permits, so that they are granted in the order of
 * arrival.
 *
 * Several permits are waited for under one hold of that mutex (Curator releases it after each), so that two acquires that
 * want all permits do not block each other.
 */
export class InterProcessSemaphoreV2 implements CountingSemaphore {
  readonly key: string;
  /** Directory of the semaphore. */
  readonly path: string;
  readonly identity: LockIdentity;
  readonly #gate: SemaphoreGate;
  readonly #permits: SharedCountReader;
  /** Maximum number of permits of one acquire: all of them, if their number is fixed. */
  readonly #most?: number;

  constructor(
    private readonly context: RecipeContext,
    private readonly settings: SemaphoreSettings,
  ) {
    const { key, path, permits, recipe = 'semaphore' } = settings;
    this.key = key;
    this.path = path;
    this.identity = { scope: context, recipe, name: path, client: context.client };
    this.#gate = new SemaphoreGate(context, `${path}/locks`);
    const isFixed = typeof permits === 'number';
    this.#permits = isFixed ? { count: permits, onChange: () => () => {} } : permits;
    if (isFixed) this.#most = permits;
  }

  async acquire(options: PermitOptions = {}): Promise<ZooKeeperLease> {
    const lease = await this.#grant(options, this.context.wait, true);
    return lease!; // an acquire that may wait ends with a lease or an error
  }

  /** Like `Lock.tryAcquire`; ignores acquires that wait at the gate and have not requested a permit yet. */
  tryAcquire(options: PermitOptions = {}): Promise<ZooKeeperLease | undefined> {
    return this.#grant(options, this.context.connectTimeout, false);
  }

  /** Acquires, runs `fn` in the lease's scope, releases; settles as `fn` does. Rejects as `acquire` does before that. */
  using<T>(fn: (lease: Lease) => Promise<T> | T, options?: PermitOptions): Promise<T> {
    return runWithLease(this.acquire(options), fn);
  }

  async availablePermits(): Promise<number> {
    const leases = await listChildren(this.context.connection, this.#leases);
    return Math.max(0, this.#permits.count - leases.length);
  }

  /**
   * Paths of all leases in the order of their sequence numbers, including the next waiter's. As in Curator, any child of
   * the directory counts.
   *
   * Rejects with `ZooKeeperError` while the connection is down.
   */
  async participants(): Promise<string[]> {
    const children = await listChildren(this.context.connection, this.#leases);
    const sorted = sortedNames(children, (child) => sortKey(child, LEASE_NAME));
    return sorted.map((name) => `${this.#leases}/${name}`);
  }

  get #optionNames(): readonly string[] {
    return this.identity.recipe === 'semaphore' ? ['permits'] : [];
  }

  get #leases(): string {
    return `${this.path}/leases`;
  }

  async #grant(
    given: PermitOptions,
    defaultWait: Wait,
    mayWait: boolean,
  ): Promise<ZooKeeperLease | undefined> {
    const { context, key } = this;
    const about = { key, client: context.client };
    validateAcquireOptions(given, about, this.#optionNames);
    const { wait = defaultWait, signal, method, permits: quantity = 1 } = given;
    const options = { ...given, wait, signal, method };
    validatePermits(quantity, about, this.#most);
    if (quantity > MOST_AT_ONCE)
      throw new LockOptionsError(
        'permits',
        quantity,
        `a whole number from 1 to ${MOST_AT_ONCE}: count in larger units`,
        about,
      );
    const request = { key, recipe: this.identity.recipe, options, mayWait };
    const held = await runAcquisition(context, request, (acquisition) => {
      const holder = () => ownHolder(context, [this.identity.name]);
      acquisition.wait.holder = holder;
      return this.#take(acquisition, quantity);
    });
    return held && new ZooKeeperLease(held);
  }

  async #take(acquisition: Acquisition, quantity: number): Promise<Hold<LockHold> | undefined> {
    const { context, settings, identity, key } = this;
    for (;;) {
      const request = {
        directory: this.#leases,
        data: settings.data ?? context.nodeData,
        quantity,
        permits: this.#permits,
      };
      const attempt = new LeaseAttempt(context, request, acquisition);
      let gate: OpenGate | undefined;
      try {
        if (acquisition.mayWait) gate = await this.#gate.enter(acquisition, () => attempt.wake());
        const result = await attempt.run(gate?.watch);
        acquisition.wait.throwIfEnded(); // a grant that comes too late is none
        const { session } = context.connection;
        const nodes = attempt.ordered.map((node) => ({ node }));
        if (result === 'granted' && session && nodes.every(({ node }) => node.belongsTo(session)))
          return new LockHold(context, {
            identity,
            key,
            method: acquisition.method,
            session,
            nodes,
            errorPolicy: settings.errorPolicy,
          }).hold;
        const removed = attempt.remove();
        if (result === 'busy') return void (await removed);
      } catch (error) {
        void attempt.remove();
        throw error;
      } finally {
        gate?.close(); // last, so that the next waiter sees the leases that we leave
      }
    }
  }
}
