import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import {
  LockAbortedError,
  LockConnectionError,
  LockLostError,
  LockTimeoutError,
} from '../../../lib/core/errors/index.js';
import type { RedisLease } from '../../../lib/redis/locks/redis-lease.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import type { RedisPermitExpirableSemaphore } from '../../../lib/redis/semaphores/redis-permit-expirable-semaphore.js';
import type { RedisSemaphore } from '../../../lib/redis/semaphores/redis-semaphore.js';
import { eventually } from '../../support/time.js';
import { RedisProxy } from '../../support/redis-proxy.js';
import { seededRandom } from '../../support/seeded-random.js';
import { byTier } from '../../support/tier.js';
import { ValidLeases } from '../support/leases.js';
import { type Holdable, locksLeft, permitsOf, SEMAPHORES } from '../support/redis-kinds.js';
import { useRedisStage } from '../support/redis-stage.js';

const DURATION = byTier({ quick: 2_000, standard: 5_000, long: 20_000 });
const LEASE = 600;
const PERMITS = 4;

/** How a visit may end in a storm, if not well. */
const ENDS = [LockTimeoutError, LockAbortedError, LockConnectionError, LockLostError];

const stage = useRedisStage();
const proxies: RedisProxy[] = [];
let endsAt = 0;
const isOver = () => performance.now() >= endsAt;

beforeEach(() => void (endsAt = Infinity));
afterEach(async () => {
  endsAt = 0;
  await stage.clients.close();
  await Promise.all(proxies.splice(0).map((proxy) => proxy.stop()));
});

/** Clients, each behind a proxy of its own, of which some do, and some do not, send again what was not answered. */
function connect(count: number, retries: readonly (number | null)[]): Promise<RedisLockClient[]> {
  return Promise.all(
    Array.from({ length: count }, async (_, n) => {
      const proxy = await RedisProxy.start(stage.server);
      proxies.push(proxy);
      const client = stage.client({
        port: proxy.port,
        retryStrategy: () => 10,
        maxRetriesPerRequest: retries[n % retries.length],
      });
      return stage.clients.on(client, { watchdogTimeout: LEASE });
    }),
  );
}

const isSubscribe = ([name]: readonly string[]) => name === 'subscribe';
const isScript = ([name]: readonly string[]) => name === 'evalsha' || name === 'eval';

/** Begins the storm: one thing after the other happens to the connections of each client, until it is over. */
function rage(longest: number): Promise<unknown> {
  endsAt = performance.now() + DURATION;
  return Promise.all(
    proxies.map(async (proxy, seed) => {
      const random = seededRandom(seed);
      const loseOne = () => {
        const loss = proxy.loseReply((command) => isScript(command) && loss.lost === 0);
        return loss;
      };
      const faults: (() => { stop(): void } | void)[] = [
        () => proxy.cut(),
        () => proxy.cut(isSubscribe),
        () => proxy.hold(),
        () => proxy.holdReplies(),
        loseOne,
      ];
      while (!isOver()) {
        await delay(random() * 300);
        const fault = faults[Math.floor(random() * faults.length)]!();
        await delay(random() ** 2 * longest);
        fault?.stop();
        proxy.resume();
      }
    }),
  );
}

/** Visits after the storm of those that came in vain while it lasted. */
const LATE_VISITS = 20;

/** Visits again and again while the storm lasts, and until it was served; resolves to how often that went well. */
async function keepVisiting(visit: () => Promise<void>, ends: readonly unknown[] = ENDS) {
  let [served, late] = [0, 0];
  while (!isOver() || (served === 0 && late++ < LATE_VISITS))
    await visit().then(
      () => (served += 1),
      (error: Error) => {
        if (!ends.includes(error.constructor)) throw error;
      },
    );
  return served;
}

/** What visitors ask for: to wait for long or short, to be aborted at times, some leases that are not renewed. */
const whims = (random: () => number) => ({
  wait: 100 + random() * 2_000,
  signal: random() < 0.2 ? AbortSignal.timeout(Math.floor(random() * 300)) : undefined,
  lease: random() < 0.3 ? LEASE : undefined,
});

describe('Six clients with connections that break and stall at random', () => {
  const room =
    (key: string, preferWriters: boolean) => (locks: RedisLockClient, isShared: boolean) => {
      const lock = locks.readWriteLock(key, { preferWriters });
      return isShared ? lock.readLock() : lock.writeLock();
    };
  type LockOf = (locks: RedisLockClient, isShared: boolean) => Holdable;
  const KINDS: [name: string, of: LockOf, readers: number][] = [
    ['mutex', (locks) => locks.mutex('mutex', { fenced: true }), 0],
    ['fair mutex', (locks) => locks.mutex('fair', { fair: true, fenced: true }), 0],
    ['read/write lock', room('room', false), 0.6],
    ['read/write lock that prefers writers', room('preferring', true), 0.6],
  ];

  it('hold no lock at the same time, are all served, and leave nothing', async () => {
    const all = await connect(6, [null, 0]);
    const storm = rage(2 * LEASE);
    const visited = KINDS.map(async ([name, of, readers], k) => {
      const leases = new ValidLeases();
      const visits = all.map((locks, n) => {
        const random = seededRandom(100 * n + k);
        return keepVisiting(async () => {
          const isShared = random() < readers;
          const options = whims(random);
          const duration = random() < 0.03 ? 1.5 * LEASE : random() * 10;
          const lease = await of(locks, isShared).acquire(options);
          leases.enter(lease, isShared);
          try {
            if (readers === 0) leases.present(lease, await lease.fencingToken());
            await delay(duration);
          } finally {
            leases.leave(lease);
            await lease.release();
          }
        });
      });
      return { name, served: await Promise.all(visits), overlaps: leases.overlaps };
    });
    const results = await Promise.all(visited);
    await storm;

    for (const { name, served, overlaps } of results) {
      expect({ name, overlaps }).toEqual({ name, overlaps: [] });
      expect(Math.min(...served)).toBeGreaterThan(0);
    }
    for (const locks of all)
      for (const [, of] of KINDS) await of(locks, false).using(() => {}, { wait: 5_000 });
    await stage.clients.close();
    await eventually('nothing is left', async () => (await locksLeft(stage.server)).length === 0);
  }, 60_000);
});

/** Looks at a semaphore from outside, and notices when more permits are valid than are allowed, or some are gone. */
class SemaphoreObserver {
  /** What was noticed, in words. */
  readonly faults: string[] = [];
  /** How often it has looked at the server. */
  looks = 0;
  readonly #inside = new Set<RedisLease>();
  #permits = PERMITS;
  /** As many as there are, or as were held when there were more. */
  #allowed = PERMITS;

  constructor(private readonly semaphore: RedisPermitExpirableSemaphore) {}

  enter(lease: RedisLease): void {
    this.#inside.add(lease);
    this.#count();
  }

  /** To be called just before it is released. */
  leave(lease: RedisLease): void {
    this.#count();
    this.#inside.delete(lease);
  }

  /** Takes one permit away for a while, again and again, and looks all the time. */
  async observe(random: () => number): Promise<void> {
    while (!isOver()) {
      for (const permits of [PERMITS - 1, PERMITS]) {
        this.#allowed = Math.max(this.#allowed, permits); // some may be taken before the answer comes
        await this.semaphore.setPermits(permits);
        this.#permits = permits;
        const looks = 20 + random() * 30;
        for (let n = 0; n < looks; n++) {
          await this.#look();
          await delay(10);
        }
      }
    }
  }

  async #look(): Promise<void> {
    const { free, taken } = await permitsOf(stage.server, this.semaphore.key);
    this.looks += 1;
    if (free + taken !== this.#permits)
      this.faults.push(`${free} free and ${taken} taken of ${this.#permits}`);
    if (taken > this.#allowed) this.faults.push(`${taken} taken of ${this.#allowed}`);
    if (taken <= this.#permits) this.#allowed = this.#permits;
  }

  #count(): void {
    const valid = [...this.#inside].filter((lease) => lease.isHeld);
    const permits = valid.reduce((sum, lease) => sum + lease.permitIds.length, 0);
    if (permits > this.#allowed) this.faults.push(`${permits} valid of ${this.#allowed}`);
  }
}

describe('Twenty workers of three clients with connections that break and stall at random', () => {
  it('never have more permits than there are, are all served, and leave nothing', async () => {
    const all = await connect(3, [null, 0]);
    const calm = await stage.near();
    const observers = SEMAPHORES.map(
      ({ name, semaphore }) => new SemaphoreObserver(semaphore(calm, name, PERMITS)),
    );
    for (const { name, semaphore } of SEMAPHORES)
      await semaphore(calm, name, PERMITS).using(() => {}); // so it is there
    const storm = rage(2 * LEASE);
    const observed = SEMAPHORES.map(async ({ name, semaphore }, k) => {
      const observer = observers[k]!;
      const working = Array.from({ length: 20 }, (_, n) => {
        const random = seededRandom(100 * n + k);
        const permits = semaphore(all[n % all.length]!, name, PERMITS);
        return keepVisiting(async () => {
          const options = { ...whims(random), permits: 1 + Math.floor(random() * 3) };
          const duration = random() < 0.03 ? 1.5 * LEASE : random() * 30;
          const lease = await permits.acquire(options);
          observer.enter(lease);
          await delay(duration);
          observer.leave(lease);
          await lease.release();
        });
      });
      const observing = observer.observe(seededRandom(k));
      const [served] = await Promise.all([Promise.all(working), observing]);
      return { name, served, observer };
    });
    const results = await Promise.all(observed);
    await storm;

    for (const { name, served, observer } of results) {
      expect({ name, faults: observer.faults }).toEqual({ name, faults: [] });
      expect(Math.min(...served)).toBeGreaterThan(0);
      expect(observer.looks).toBeGreaterThan(20);
    }
    for (const { name, semaphore } of SEMAPHORES)
      await semaphore(calm, name, PERMITS).using(() => {}, { permits: PERMITS, wait: 5_000 });
    await stage.clients.close();
    const kept = SEMAPHORES.flatMap(({ name, kept }) => kept(name)).sort();
    await eventually('nothing else is left', async () => {
      expect((await locksLeft(stage.server)).sort()).toEqual(kept);
      return true;
    });
    for (const key of kept) expect(await stage.redis.get(key)).toBe(`${PERMITS}`);
  }, 60_000);
});

describe('Twelve workers that want permits without an owner while connections break at random', () => {
  const KEY = 'plain';

  it('never have more than there are, and all permits are free in the end', async () => {
    const all = await connect(3, [null]);
    await all[0]!.plainSemaphore(KEY).trySetPermits(PERMITS);
    const faults: string[] = [];
    let taken = 0;

    const visit = async (semaphore: RedisSemaphore, random: () => number) => {
      const permits = 1 + Math.floor(random() * 3);
      const signal = random() < 0.3 ? AbortSignal.timeout(Math.floor(random() * 100)) : undefined;
      await semaphore.acquire({ permits, wait: 50 + random() * 1_000, signal });
      taken += permits;
      if (taken > PERMITS) faults.push(`${taken} taken of ${PERMITS}`);
      await delay(random() * 20);
      taken -= permits;
      await semaphore.release(permits);
    };
    const storm = rage(500);
    const working = Array.from({ length: 12 }, (_, n) => {
      const semaphore = all[n % all.length]!.plainSemaphore(KEY);
      const random = seededRandom(n);
      return keepVisiting(() => visit(semaphore, random), [LockTimeoutError, LockAbortedError]);
    });
    const observing = async () => {
      while (!isOver()) {
        const free = Number(await stage.redis.get(KEY));
        if (free < 0 || free > PERMITS) faults.push(`${free} free of ${PERMITS}`);
        await delay(10);
      }
    };
    const [served] = await Promise.all([Promise.all(working), observing(), storm]);

    expect(faults).toEqual([]);
    expect(Math.min(...served)).toBeGreaterThan(0);
    const { server, redis } = stage;
    await eventually('all are free', async () => (await redis.get(KEY)) === `${PERMITS}`);
    await eventually('nothing else is left', async () => (await locksLeft(server)).length === 1);
  }, 60_000);
});
