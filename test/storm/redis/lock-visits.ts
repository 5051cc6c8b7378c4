import { setTimeout as delay } from 'node:timers/promises';
import {
  LockAbortedError,
  LockConnectionError,
  LockLostError,
  LockNotHeldError,
  LockTimeoutError,
} from '../../../lib/core/errors/index.js';
import type { Lease } from '../../../lib/core/lease.js';
import type { RedisLease } from '../../../lib/redis/locks/redis-lease.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import type { RedisPermitOptions } from '../../../lib/redis/semaphores/redis-permit-expirable-semaphore.js';
import type { Findings } from './findings.js';
import type { ExclusionJudge, GhostWatch, LeaseWatch, LockJudge, Visitor } from './judges.js';
import type { StormClient } from './redis-storm.js';

/** Number of permits of the semaphores. */
export const PERMITS = 5;

/** Locks or permits to be acquired for a while. */
export interface StormLock {
  /** Acquires it; `tryAcquire` does so without waiting. */
  acquire(options: RedisPermitOptions): Promise<Lease>;
  tryAcquire(options: RedisPermitOptions): Promise<Lease | undefined>;
}

/** A kind of lock in the storm. */
export interface Recipe {
  readonly name: string;
  /** The keys that it acquires. */
  readonly keys: readonly string[];
  readonly kind: 'alone' | 'permits';
  /** Share of the visitors that acquire it shared. */
  readonly readers?: number;
  readonly isFenced?: boolean;
  /** Whether its leases can have a fixed length, and be extended. */
  readonly hasLeases: boolean;
  of(locks: RedisLockClient, isShared: boolean): StormLock;
}

const room = (key: string, preferWriters: boolean) => ({
  keys: [key],
  kind: 'alone' as const,
  hasLeases: true,
  readers: 0.6,
  of(locks: RedisLockClient, isShared: boolean) {
    const lock = locks.readWriteLock(key, { preferWriters });
    return isShared ? lock.readLock() : lock.writeLock();
  },
});

const mutex = (key: string, options: { fair?: boolean; fenced?: boolean } = {}) => ({
  keys: [key],
  kind: 'alone' as const,
  hasLeases: true,
  isFenced: options.fenced,
  of: (locks: RedisLockClient) => locks.mutex(key, options),
});

const permits = (key: string, fair: boolean) => ({
  keys: [key],
  kind: 'permits' as const,
  hasLeases: true,
  of: (locks: RedisLockClient) => locks.semaphore(key, { permits: PERMITS, fair }),
});

const PAIR = ['{pair}:a', '{pair}:b'] as const;

/** All recipes that lock something. Visitors of a part of the multi-lock are excluded by visitors of the whole. */
export const RECIPES: readonly Recipe[] = [
  { name: 'mutex', ...mutex('mutex') },
  { name: 'fenced', ...mutex('fenced', { fenced: true }) },
  { name: 'fair', ...mutex('fair', { fair: true, fenced: true }) },
  {
    name: 'spin',
    keys: ['spin'],
    kind: 'alone',
    hasLeases: true,
    of: (locks) => locks.spinLock('spin'),
  },
  { name: 'read/write', ...room('room', false) },
  { name: 'writers first', ...room('preferring', true) },
  { name: 'permits', ...permits('permits', false) },
  { name: 'fair permits', ...permits('fair-permits', true) },
  {
    name: 'multi',
    keys: PAIR,
    kind: 'alone',
    hasLeases: false,
    of: (locks) => locks.multiLock(PAIR.map((key) => locks.mutex(key))),
  },
  { name: 'part of multi', ...mutex(PAIR[0]) },
];

/** The leases of the single locks in any lease. */
export function partsOf(lease: Lease): readonly RedisLease[] {
  return 'leases' in lease ? (lease.leases as RedisLease[]) : [lease as RedisLease];
}

/** How an acquire may fail in a storm. */
const ENDS = [
  LockTimeoutError,
  LockAbortedError,
  LockConnectionError,
  LockLostError,
  LockNotHeldError,
];

const LONGEST_LEASE = 7_000;

/** What visitors of locks need. */
export interface Grounds {
  readonly judges: ReadonlyMap<string, LockJudge>;
  readonly ghosts: GhostWatch;
  readonly leases: LeaseWatch;
  readonly findings: Findings;
  /** Number of grants of each recipe. */
  readonly grants: Map<string, number>;
}

/** Acquires one kind of lock again and again, for a while, long or short. */
export class LockVisitor {
  constructor(
    private readonly recipe: Recipe,
    private readonly client: StormClient,
    private readonly grounds: Grounds,
    private readonly random: () => number,
  ) {}

  async work(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await delay(5 + this.random() * 120);
      await this.#visit().catch((error: Error) => {
        if (!ENDS.some((end) => error instanceof end))
          this.grounds.findings.add('error', `${this.recipe.name}: ${String(error)}`);
      });
    }
  }

  async #visit(): Promise<void> {
    const { recipe, client, random, grounds } = this;
    const isShared = random() < (recipe.readers ?? 0);
    const isFixed = recipe.hasLeases && random() < 0.4;
    const { interruptions } = client;
    const lease = await this.#take(isShared, isFixed);
    if (!lease) return;
    grounds.grants.set(recipe.name, (grounds.grants.get(recipe.name) ?? 0) + 1);
    const since = performance.now();
    const mode =
      recipe.kind === 'permits'
        ? 'permits'
        : !recipe.readers
          ? 'alone'
          : isShared
            ? 'read'
            : 'write';
    const visitors = partsOf(lease).map((part): Visitor => ({
      lease: part,
      client: client.name,
      mode,
      since,
    }));
    for (const visitor of visitors) for (const judge of this.#judges(visitor)) judge.enter(visitor);
    try {
      await this.#present(visitors);
      await this.#stay(lease, client.interruptions > interruptions);
    } finally {
      for (const visitor of visitors)
        for (const judge of this.#judges(visitor)) judge.leave(visitor);
      await this.#end(lease, visitors, isFixed);
    }
  }

  #take(isShared: boolean, isFixed: boolean): Promise<Lease | undefined> {
    const { recipe, client, random } = this;
    const lock = recipe.of(client.locks, isShared);
    const permits =
      recipe.kind === 'permits' ? 1 + Math.floor(random() * (PERMITS - 1)) : undefined;
    const options = {
      wait: 200 + random() * 4_000,
      signal: random() < 0.12 ? AbortSignal.timeout(Math.floor(random() * 500)) : undefined,
      ...(isFixed && { lease: 800 + Math.floor(random() * 1_200) }),
      ...(permits !== undefined && { permits }),
    };
    return random() < 0.1 ? lock.tryAcquire(options) : lock.acquire(options);
  }

  /** Presents the token, as to a store. */
  async #present(visitors: readonly Visitor[]): Promise<void> {
    const { grounds, recipe } = this;
    if (!recipe.isFenced) return;
    for (const visitor of visitors) {
      const judge = grounds.judges.get(visitor.lease.key) as ExclusionJudge;
      judge.present(visitor, await visitor.lease.fencingToken());
    }
  }

  /** Holds it for a moment; or for long, with a longer lease, more often where a copy of the acquire may come late. */
  async #stay(lease: Lease, wasInterrupted: boolean): Promise<void> {
    const { random } = this;
    const [first] = partsOf(lease);
    const chance = random();
    if (chance < (wasInterrupted ? 0.2 : 0.02)) {
      const longer = Math.floor(3_000 + random() * (LONGEST_LEASE - 3_000));
      for (const part of partsOf(lease)) await part.extend(longer).catch(() => {});
      await this.#pause(lease, random() ** 2 * longer);
      if (random() < 0.3) await first!.extend(600 + Math.floor(random() * 600)).catch(() => {});
      return this.#pause(lease, random() * 300);
    }
    if (chance < 0.06) await first!.extend(600 + Math.floor(random() * 1_000)).catch(() => {});
    await this.#pause(lease, random() < 0.05 ? random() * 800 : random() * 30);
  }

  /** Not beyond its end. */
  async #pause({ signal }: Lease, ms: number): Promise<void> {
    await delay(ms, undefined, { signal }).catch(() => {});
  }

  /** Releases it, or lets it expire, as holders do that limit how often something is done. */
  async #end(lease: Lease, visitors: readonly Visitor[], isFixed: boolean): Promise<void> {
    const runsOut = isFixed && this.random() < 0.15;
    if (runsOut) await this.#pause(lease, LONGEST_LEASE);
    else await lease.release();
    const how = runsOut ? 'ran out' : 'was released';
    for (const visitor of visitors) this.grounds.ghosts.ended(visitor.lease, how);
  }

  #judges({ lease }: Visitor): Pick<LockJudge, 'enter' | 'leave'>[] {
    return [this.grounds.judges.get(lease.key)!, this.grounds.leases];
  }
}
