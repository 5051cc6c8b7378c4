import type { Clock } from '../../lib/core/clock.js';
import type { LockErrorCode } from '../../lib/core/errors/lock-error.js';
import { runWithLease } from '../../lib/core/internal/lease-handle.js';
import type { Lease } from '../../lib/core/lease.js';
import type { AcquireOptions, HandOff, Lock } from '../../lib/core/lock.js';
import { MultiLock } from '../../lib/core/multi-lock.js';
import type { LinkListener } from '../../lib/zookeeper/connection/transport.js';
import { CreateMode } from '../../lib/zookeeper/connection/zookeeper-connection.js';
import type { SharedCount } from '../../lib/zookeeper/shared/shared-count.js';
import type { SimulatedClient } from './client.js';
import type { Judge } from './judge.js';
import type { LockQueue, QueuedNode, QueueRule } from './lock-queue.js';
import { Observer, watcher } from './observer.js';
import { currentOperation, type ObservedHold } from './operation.js';
import { Patience, Times } from './timing.js';
import type { World } from './world.js';

/** The required outcome of an acquire in the scope of others. */
export type Prospect =
  | { readonly kind: 'queue' }
  /** One more lease on that hold, at once. */
  | { readonly kind: 're-enter'; readonly hold: ObservedHold }
  /** A node with the number of that hold's, so that no other node comes in between. */
  | { readonly kind: 'downgrade'; readonly hold: ObservedHold }
  | { readonly kind: 'refuse'; readonly code: LockErrorCode };

/** One lock of the world, for its users. */
export interface SimulatedLock {
  readonly key: string;
  /** The queue with the nodes that it is held by; none if it consists of parts. */
  readonly queue?: LockQueue;
  /** The queue to wait in before entering `queue`. */
  readonly gate?: LockQueue;
  /** Parts of a multi-lock, in the order in which it has to acquire them. */
  readonly parts?: readonly SimulatedLock[];
  /** Maximum number of permits to ask for. Default: one. */
  readonly permits?: number;
  /** The bounds within which it is handed on to other callers of a client. Default: never. */
  readonly handOff?: HandOff;
  /** The bounds within which callers of a client share it. Default: never. */
  readonly sharing?: HandOff;
  /** False: a holder that asks again waits like any other client. */
  readonly isReentrant: boolean;
  /** The lock of the library. */
  of(client: SimulatedClient): Lock;
  /** @param live holds in the scope of which it is requested, innermost first */
  prospect(live: readonly ObservedHold[]): Prospect;
}

/** Only the first node holds. */
export const mutexRule: QueueRule = {
  isServed: (node, nodes) => nodes[0] === node,
  mayHoldTogether: (nodes) => nodes.length <= 1,
  mayFollow: (later, earlier) => later.token > earlier.token,
};

const isWriter = ({ name }: QueuedNode) => name === '__WRIT__';
/** A writer, and a reader that took its number while it held: no other node came in between. */
const areOne = (a: QueuedNode, b: QueuedNode) => a.token === b.token;

/** A writer holds when there is no node before it; a reader when there is no writer before it except its own. */
export const readWriteRule: QueueRule = {
  isServed(node, nodes) {
    const before = nodes.slice(0, nodes.indexOf(node)).filter((other) => !areOne(node, other));
    return isWriter(node) ? before.length === 0 : !before.some(isWriter);
  },
  mayHoldTogether(nodes) {
    const writer = nodes.find(isWriter);
    return (
      !writer || nodes.every((node) => node === writer || (areOne(node, writer) && !isWriter(node)))
    );
  },
  mayFollow(later, earlier) {
    if (isWriter(later) || isWriter(earlier))
      return later.token > earlier.token || (areOne(later, earlier) && !isWriter(later));
    return true; // readers are notified in any order
  },
};

export function mutex(world: World, key: string): SimulatedLock {
  const lock: SimulatedLock = {
    key,
    queue: world.queue(`/locks/${key}`, mutexRule),
    isReentrant: true,
    of: ({ locks }) => locks.mutex(key),
    prospect(live) {
      const hold = live.find((it) => it.lock === lock);
      return hold ? { kind: 're-enter', hold } : { kind: 'queue' };
    },
  };
  return lock;
}

/** A mutex that is handed on, and the same for callers who neither hand it on nor have it handed on to them. */
export function mutexes(
  world: World,
  key: string,
  handOff: HandOff,
): { readonly handedOn: SimulatedLock; readonly released: SimulatedLock } {
  const released = mutex(world, key);
  const { queue } = released;
  const prospect = (live: readonly ObservedHold[]): Prospect => {
    const hold = live.find((it) => it.queue === queue);
    return hold ? { kind: 're-enter', hold } : { kind: 'queue' };
  };
  const handedOn: SimulatedLock = {
    ...released,
    handOff,
    of: ({ locks }) => locks.mutex(key, { handOff }),
    prospect,
  };
  return { handedOn, released: { ...released, prospect } };
}

/**
 * The first nodes hold, as many as there are permits.
 *
 * @param permits how many there are now, and what else clients may believe. Lowering them takes nothing away
 */
export function permitsRule(permits: () => readonly [number, ...number[]]): QueueRule {
  let highest = 0;
  return {
    isServed: (node, nodes) => nodes.indexOf(node) < permits()[0],
    isDoubtful(node, nodes) {
      const place = nodes.indexOf(node);
      return permits().some((count) => place < count) && permits().some((count) => place >= count);
    },
    mayHoldTogether: (nodes) => nodes.length <= (highest = Math.max(highest, ...permits())),
    mayFollow: () => true, // those that hold together are notified in any order
  };
}

/** @param sharing bounds within which callers of a client share the read lock; those of `alone` do not */
export function readWriteLock(
  world: World,
  key: string,
  sharing?: HandOff,
): Readonly<Record<'read' | 'alone' | 'write', SimulatedLock>> {
  const queue = world.queue(`/locks/${key}`, readWriteRule);
  const isRead = ({ lock }: ObservedHold) => lock === read || lock === alone;
  const read: SimulatedLock = {
    key,
    queue,
    sharing,
    isReentrant: true,
    of: ({ locks }) => locks.readWriteLock(key, { handOff: sharing }).readLock(),
    prospect(live) {
      const reading = live.find(isRead);
      if (reading) return { kind: 're-enter', hold: reading };
      const writing = live.find(({ lock }) => lock === write);
      return writing ? { kind: 'downgrade', hold: writing } : { kind: 'queue' };
    },
  };
  const alone: SimulatedLock = {
    ...read,
    sharing: undefined,
    of: ({ locks }) => locks.readWriteLock(key).readLock(),
  };
  const write: SimulatedLock = {
    key,
    queue,
    isReentrant: true,
    of: ({ locks }) => locks.readWriteLock(key).writeLock(),
    prospect(live) {
      const writing = live.find(({ lock }) => lock === write);
      if (writing) return { kind: 're-enter', hold: writing };
      const isReading = live.some(isRead);
      return isReading ? { kind: 'refuse', code: 'LOCK_UPGRADE' } : { kind: 'queue' };
    },
  };
  return { read, alone, write };
}

export function semaphore(world: World, key: string, permits: number): SimulatedLock {
  return {
    key,
    queue: world.queue(
      `/locks/${key}/leases`,
      permitsRule(() => [permits]),
    ),
    gate: world.queue(`/locks/${key}/locks`, mutexRule),
    permits,
    isReentrant: false,
    of: ({ locks }) => locks.semaphore(key, { permits }),
    prospect: () => ({ kind: 'queue' }),
  };
}

export function semaphoreMutex(world: World, key: string): SimulatedLock {
  return { ...semaphore(world, key, 1), of: ({ locks }) => locks.semaphoreMutex(key) };
}

/** The semaphore of that key with as many permits as a shared count has: at most `highest`, and changed occasionally. */
export function countedSemaphore(world: World, key: string, highest: number): SimulatedLock {
  const count = new ObservedCount(world, '/count', highest);
  const queue = world.queue(
    `/locks/${key}/leases`,
    permitsRule(() => [count.value, ...count.believed]),
  );
  count.onChange = () => queue.serve();
  return {
    key,
    queue,
    gate: world.queue(`/locks/${key}/locks`, mutexRule),
    permits: highest,
    isReentrant: false,
    of: (client: SimulatedClient) => client.locks.semaphore(key, { permits: count.of(client) }),
    prospect: () => ({ kind: 'queue' }),
  };
}

interface Follower {
  readonly count: SharedCount;
  startedAt: number;
}

/** A shared count on the server, and the value that clients see: they have to keep up with it. */
export class ObservedCount extends Observer {
  override readonly lasting = 1;
  /** Called when it has changed on the server, or a client has learned of that. */
  onChange = () => {};
  #changedAt = 0;
  #isRestored = false;
  readonly #followers = new Map<SimulatedClient, Follower>();
  readonly #watcher: LinkListener;

  /** @param highest its value at the beginning, and when all is well */
  constructor(
    world: World,
    private readonly path: string,
    readonly highest: number,
  ) {
    super(world);
    const { tree } = world.server;
    const origin = { data: bytesOf(highest), mode: CreateMode.PERSISTENT, sessionId: '0' };
    tree.insert(path, { ...origin, zxid: tree.nextZxid() });
    this.#watcher = watcher(() => this.#changed());
    tree.watchData(path, this.#watcher);
    world.counts.push(this);
    world.observers.push(this);
  }

  get value(): number {
    return this.world.server.tree.get(this.path)!.data.readInt32BE();
  }

  /** All values that clients may see now. */
  get believed(): number[] {
    return [this.value, ...[...this.#followers.values()].map(({ count }) => count.count)];
  }

  /** The view of that client. The seed is the lowest: before the first read, no client gets too many permits. */
  of(client: SimulatedClient): SharedCount {
    const there = this.#followers.get(client);
    if (there) return there.count;
    const follower = { count: client.locks.sharedCount(this.path, 1), startedAt: Times.never };
    this.#followers.set(client, follower);
    follower.count.onChange(() => this.onChange());
    void this.#start(client, follower);
    return follower.count;
  }

  /** Sets it, from outside or as one of our clients. */
  set(value: number, client?: SimulatedClient): void {
    const { server } = this.world;
    if (client)
      return void this.of(client)
        .setCount(value)
        .catch(() => {}); // it may be set all the same
    server.receive(() => server.tree.setData(this.path, bytesOf(value), server.tree.nextZxid()));
  }

  /** Sets it to its value at the beginning, and keeps it so. */
  restore(): void {
    this.#isRestored = true;
    this.set(this.highest);
  }

  override check(): void {
    for (const [client, { count, startedAt }] of this.#followers) {
      const since = Times.latest(this.#changedAt, startedAt, client.calmSince);
      if (count.count !== this.value && this.now > since + Patience.TO_SERVE)
        this.accuse(`${client.name} takes the count for ${count.count}, and not ${this.value}`);
    }
  }

  override stop(): void {
    this.world.server.tree.forget(this.#watcher);
  }

  async #start(client: SimulatedClient, follower: Follower): Promise<void> {
    while (client.closedAt === undefined && follower.startedAt === Times.never)
      await follower.count.start().then(
        () => (follower.startedAt = this.now),
        () => client.sleep(Patience.TO_SERVE), // no answer in time: try again
      );
  }

  #changed(): void {
    const { server, clock } = this.world;
    server.tree.watchData(this.path, this.#watcher);
    this.#changedAt = this.now;
    this.note('count changed', `to ${this.value}`);
    this.onChange();
    const isLate = this.#isRestored && this.value < this.highest; // a change by a client was still under way
    if (isLate) clock.setTimer(() => this.set(this.highest), 0);
  }
}

function bytesOf(count: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(count);
  return bytes;
}

const real = (locks: readonly Lock[], clock: Clock): Lock => new MultiLock(locks, { clock });

/**
 * All of those locks as one.
 *
 * @param parts in the order of their keys
 * @param make receives the parts in another order. Default: the library's
 */
export function multiLock(
  world: World,
  parts: readonly SimulatedLock[],
  make = real,
): SimulatedLock {
  return {
    key: parts.map(({ key }) => key).join(' + '),
    parts,
    isReentrant: false, // its parts are, or not
    of: (client) => {
      const observed = parts.map((part) => new ObservedPart(world.judge, part, client));
      return make(observed.toReversed(), client.process);
    },
    prospect: () => ({ kind: 'queue' }),
  };
}

/** A lock as part of a multi-lock, which reports to the judge all that is done with it. */
export class ObservedPart implements Lock {
  readonly #real: Lock;

  constructor(
    private readonly judge: Judge,
    private readonly lock: SimulatedLock,
    client: SimulatedClient,
  ) {
    this.#real = lock.of(client);
  }

  get key(): string {
    return this.#real.key;
  }

  get identity(): Lock['identity'] {
    return this.#real.identity;
  }

  async acquire(options: AcquireOptions = {}): Promise<Lease> {
    const lease = await this.#take(options, false, () => this.#real.acquire(options));
    return lease!; // like the real one
  }

  tryAcquire(options: AcquireOptions = {}): Promise<Lease | undefined> {
    return this.#take(options, true, () => this.#real.tryAcquire(options));
  }

  using<T>(fn: (lease: Lease) => Promise<T> | T, options?: AcquireOptions): Promise<T> {
    return runWithLease(this.acquire(options), fn);
  }

  async #take(
    { wait, signal }: AcquireOptions,
    isTry: boolean,
    take: () => Promise<Lease | undefined>,
  ): Promise<Lease | undefined> {
    const whole = currentOperation.getStore()!;
    const bound = typeof wait === 'number' ? wait : undefined;
    const operation = this.judge.beganPart(whole, this.lock, { wait: bound, isTry });
    operation.abortedAt = whole.abortedAt;
    const tell = () => void (operation.abortedAt ??= whole.abortedAt);
    signal?.addEventListener('abort', tell);
    try {
      const lease = await currentOperation.run(operation, take);
      if (!lease) this.judge.refused(operation);
      else this.#listen(lease, this.judge.granted(operation, lease));
      return lease;
    } catch (error) {
      this.judge.failed(operation, error);
      throw error;
    } finally {
      signal?.removeEventListener('abort', tell);
    }
  }

  /** Reports to the judge before it is released. */
  #listen(lease: Lease, hold: Parameters<Judge['releasing']>[0]): void {
    const release = lease.release.bind(lease);
    lease.release = () => {
      this.judge.releasing(hold, lease);
      return release();
    };
  }
}
