import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { LeaderLatch } from '../../lib/core/election/leader-latch.js';
import type { Lease } from '../../lib/core/lease.js';
import type { LockClient } from '../../lib/core/lock-client.js';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import { createRedLockClient } from '../../lib/redis/red-lock/create-red-lock-client.js';
import { asOwn, type RedisServer } from '../support/redis-server.js';
import { eventually } from '../support/time.js';
import { expectLost } from './backends/leases.js';
import { LeaderSelectorReign } from './backends/recipes.js';
import { RedLockStage } from './backends/red-lock.js';
import { type RedisBackend, redisRecipes, RedisStage } from './backends/redis.js';
import type { LockStage } from './backends/stage.js';

const PATIENCE = { within: 20_000 };

/** What befalls leaders on Redis. */
export function leaderElectionAccidentsSuite(ground: () => LeaderElectionGround): void {
  const stage = () => ground().stage;

  it('lead on while the connection is interrupted: it is the lease that counts', async () => {
    const { mine, theirs, key } = stage();
    const [first, second] = [mine, theirs].map(({ locks }) => locks.leaderLatch(key));
    first!.start();
    const leadership = await first!.awaitLeadership();
    const token = await leadership.fencingToken();
    second!.start();
    await stage().down();
    expect([first!.hasLeadership, leadership.signal.aborted]).toEqual([true, false]);
    await stage().up();
    await stage().caughtUp(mine);
    expect(first!.leadership).toBe(leadership);
    expect([await leadership.fencingToken(), second!.hasLeadership]).toEqual([token, false]);
    await first!.close();
    await second!.awaitLeadership({ wait: 20_000 });
  });

  it('lose it when an operator unlocks the key by force, to another one', async () => {
    const { mine, theirs, key } = stage();
    const [first, second] = [mine, theirs].map(({ locks }) => locks.leaderLatch(key));
    const lost: unknown[] = [];
    first!.onLeadershipLost((error) => lost.push(error));
    first!.start();
    const leadership = await first!.awaitLeadership();
    second!.start();
    await eventually('it stands', () => theirs.locks.activity().length === 1);
    await stage().evict();
    const next = await second!.awaitLeadership({ wait: 20_000 });
    stage().makeSure(mine);
    await eventually('it knows', () => leadership.signal.aborted);
    expectLost(leadership as Lease);
    expect(lost).toEqual([leadership.signal.reason]);
    expect([first!.hasLeadership, first!.state, next.isHeld]).toEqual([false, 'STARTED', true]);
    await second!.close();
    expect((await first!.awaitLeadership({ wait: 20_000 })).isHeld).toBe(true); // it stands on
  });

  it('lose it when the servers forget it', async () => {
    const { mine, key } = stage();
    const reign = new LeaderSelectorReign();
    const selector = mine.locks.leaderSelector(key, reign.leads());
    selector.start();
    const leadership = await reign.begun(1);
    const token = await leadership.fencingToken();
    await stage().expire(mine);
    expectLost(leadership as Lease);
    await eventually('it may queue again', () => selector.requeue());
    expect(await (await reign.begun(2)).fencingToken()).toBeGreaterThan(token);
    await selector.close();
  });
}

/** Leaders with leases that end while a test waits. */
export function leaderElectionLeasesSuite(ground: () => LeaderElectionGround): void {
  const stage = () => ground().stage;
  const one = (latches: readonly LeaderLatch[]) =>
    eventually(
      'exactly one leads',
      () => latches.filter(({ hasLeadership }) => hasLeadership).length === 1,
      PATIENCE,
    );
  let mortals: MortalClient[];
  const mortal = async () => {
    const client = await ground().mortal();
    mortals.push(client);
    return client;
  };

  beforeEach(() => {
    mortals = [];
  });
  afterEach(async () => {
    await Promise.all(mortals.map(({ locks }) => locks.close()));
    for (const { vanish } of mortals) vanish();
  });

  it('lead on for longer than that', async () => {
    const { locks } = await mortal();
    const latch = locks.leaderLatch(stage().key);
    latch.start();
    const leadership = await latch.awaitLeadership();
    const startedAt = performance.now();
    await eventually('leases are over', () => performance.now() - startedAt > 3_500);
    expect([leadership.isHeld, leadership.signal.aborted]).toEqual([true, false]);
  });

  it('lose it when they are gone: first they know by their own clock, then another one leads', async () => {
    const { theirs, key } = stage();
    const gone = await mortal();
    const [first, second] = [gone, theirs].map(({ locks }) => locks.leaderLatch(key));
    first!.start();
    const leadership = await first!.awaitLeadership();
    const token = await leadership.fencingToken();
    const seen: boolean[] = [];
    second!.onLeadership(() => seen.push(first!.hasLeadership, leadership.isHeld));
    second!.start();
    await eventually('it stands', () => theirs.locks.activity().length === 1);
    gone.vanish();
    expect(leadership.isHeld).toBe(true);
    const next = await second!.awaitLeadership({ wait: 20_000 });
    expect(seen).toEqual([false, false]);
    expectLost(leadership as Lease);
    expect(await next.fencingToken()).toBeGreaterThan(token);
    await first!.close();
    expect(second!.hasLeadership).toBe(true);
  });

  it('lose it while the servers are silent, and one leads when they are back', async () => {
    const { key } = stage();
    const latches = (await Promise.all([mortal(), mortal()])).map(({ locks }) =>
      locks.leaderLatch(key),
    );
    for (const latch of latches) latch.start();
    await one(latches);
    const { leadership } = latches.find(({ hasLeadership }) => hasLeadership)!;
    stage().freeze();
    try {
      await eventually('it knows', () => leadership!.signal.aborted);
      expectLost(leadership as Lease);
      expect(latches.filter(({ hasLeadership }) => hasLeadership)).toHaveLength(0);
    } finally {
      stage().thaw();
    }
    await one(latches);
  });

  it('lose it when the servers forget everything, with the next renewal, and one leads', async () => {
    const { key } = stage();
    const latches = (await Promise.all([mortal(), mortal()])).map(({ locks }) =>
      locks.leaderLatch(key),
    );
    latches[0]!.start();
    const leadership = await latches[0]!.awaitLeadership({ wait: 20_000 });
    latches[1]!.start();
    await ground().forget();
    await eventually('it knows', () => leadership.signal.aborted);
    expectLost(leadership as Lease);
    await one(latches);
  });
}

/** Of the clients with leases that end while a test waits, in ms. */
const SHORT_LEASE = 3_000;

/** A client of the test's own. */
export interface MortalClient {
  readonly locks: LockClient;
  /** Its connections end for good, as when its process does. */
  vanish(): void;
}

/** What elections on Redis stand on. */
export interface LeaderElectionGround<S extends LockStage = LockStage> {
  readonly stage: S;
  /** A client with short leases, connected; to be closed by the test. */
  mortal(): Promise<MortalClient>;
  /** The servers forget everything. */
  forget(): Promise<void>;
}

/** A server, or servers that are one. */
export async function redisElectionGround(
  backend: RedisBackend,
): Promise<LeaderElectionGround<RedisStage>> {
  return {
    stage: await RedisStage.build(backend, redisRecipes.fenced),
    async mortal() {
      const client = backend.client();
      const locks = await createRedisLockClient('mortal', {
        client: asOwn(client),
        watchdogTimeout: SHORT_LEASE,
      });
      await locks.connect();
      return { locks, vanish: () => client.disconnect() };
    },
    forget: () => forget(backend.servers),
  };
}

/** Servers that know nothing of each other. */
export async function redLockElectionGround(
  servers: readonly RedisServer[],
): Promise<LeaderElectionGround> {
  return {
    stage: await RedLockStage.build(servers, 'semaphoreMutex'),
    async mortal() {
      const nodes = servers.map((server) => server.client());
      const times = { watchdogTimeout: SHORT_LEASE, nodeTimeout: SHORT_LEASE / 3 };
      const locks = await createRedLockClient('mortal', { nodes: nodes.map(asOwn), ...times });
      await locks.connect();
      return { locks, vanish: () => nodes.forEach((node) => node.disconnect()) };
    },
    forget: () => forget(servers),
  };
}

/** Replicas refuse, and follow their masters. */
async function forget(servers: readonly RedisServer[]): Promise<void> {
  await Promise.allSettled(servers.map((server) => server.command('FLUSHALL')));
}
