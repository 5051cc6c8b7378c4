import { hostname } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import type { LeaderLatch } from '../../lib/core/election/leader-latch.js';
import type { Leadership } from '../../lib/core/election/leader-term.js';
import {
  ElectionClosedError,
  LockAbortedError,
  LockClientClosedError,
  LockKeyError,
  LockOptionsError,
  LockTimeoutError,
} from '../../lib/core/errors/index.js';
import { currentLease } from '../../lib/core/internal/lease-scope.js';
import type { Lease } from '../../lib/core/lease.js';
import { LockName } from '../../lib/redis/connection/lock-name.js';
import { Deferred, eventually, isSettled } from '../support/time.js';
import { expectLost } from './backends/leases.js';
import { LeaderSelectorReign } from './backends/recipes.js';
import type { RedisBackend, RedisStage } from './backends/redis.js';
import { type Deployment, type LockStage, onStage, useWarnings } from './backends/stage.js';
import {
  leaderElectionAccidentsSuite,
  type LeaderElectionGround,
  leaderElectionLeasesSuite,
  redisElectionGround,
} from './leader-election-accidents.suite.js';
import { leaderSelectorScopeSuite } from './leader-selector.suite.js';

/**
 * What elections promise on Redis.
 *
 * @param layoutSuite what they have on the servers
 */
export function leaderElectionSuite<B, S extends LockStage>(
  on: Deployment<B>,
  makeGround: () => Promise<LeaderElectionGround<S>>,
  layoutSuite?: (stage: () => S) => void,
): void {
  describe(`An election on ${on.name}`, () => {
    let ground: LeaderElectionGround<S>;
    const stage = onStage(async () => (ground = await makeGround()).stage);
    on.part('by latches', 'server', () => leaderElectionLatchesSuite(stage));
    on.part('by selectors', 'server', () => leaderElectionSelectorsSuite(stage));
    on.part('the function of a selector', 'client', () => leaderSelectorScopeSuite(stage));
    on.part('leaders', 'deployment', () => leaderElectionAccidentsSuite(() => ground));
    on.part('leaders with a short lease', 'server', () => leaderElectionLeasesSuite(() => ground));
    if (layoutSuite) on.part('the layout', 'server', () => layoutSuite(stage));
  });
}

/** The same on a server, or servers that are one, with the layout there. */
export function redisLeaderElectionSuite(on: Deployment<RedisBackend>): void {
  leaderElectionSuite(on, () => redisElectionGround(on.backend()), leaderElectionLayoutSuite);
}

/** Leader latches on Redis: the interface is that of ZooKeeper, what is known of the others is not. */
function leaderElectionLatchesSuite(stage: () => LockStage): void {
  const leads = ({ hasLeadership }: LeaderLatch) => hasLeadership;

  it('has one leader, and the next one when that has left, with a greater token', async () => {
    const { mine, theirs, key } = stage();
    const clients = [mine, theirs, await stage().client(), mine];
    const latches = clients.map(({ locks }, n) => locks.leaderLatch(key, { id: `candidate ${n}` }));
    for (const latch of latches) latch.start();
    const tokens: bigint[] = [];
    for (let left = latches.length; left > 0; left--) {
      const leader = await eventually('one leads', () => latches.find(leads));
      expect(latches.filter(leads)).toHaveLength(1);
      expect([leader.state, leader.leadership!.isHeld]).toEqual(['STARTED', true]);
      tokens.push(await leader.leadership!.fencingToken());
      const { leadership } = leader;
      await leader.close();
      expect([leader.hasLeadership, leadership!.isHeld]).toEqual([false, false]);
    }
    expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => (a < b ? -1 : 1)));
    expect(await stage().contenders()).toEqual([]);
  });

  it('notifies a listener of the beginning and of the end', async () => {
    const { mine, key } = stage();
    const latch = mine.locks.leaderLatch(key);
    const told: (Leadership | string)[] = [];
    latch.onLeadership((leadership) => told.push(leadership));
    latch.onLeadershipLost((error) => told.push(error === undefined ? 'closed' : 'lost'));
    latch.start();
    const leadership = await latch.awaitLeadership();
    await latch.close('NOTIFY_LEADER');
    expect(told).toEqual([leadership, 'closed']);
  });

  it('lets one wait for the leadership as one waits for a lock', async () => {
    const { mine, theirs, key } = stage();
    const [first, second] = [mine, theirs].map(({ locks }) => locks.leaderLatch(key));
    first!.start();
    expect(await first!.awaitLeadership({ wait: 10_000 })).toBe(first!.leadership);
    second!.start();
    const late = second!.awaitLeadership({ wait: 50 });
    await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
    const abort = new AbortController();
    const aborted = second!.awaitLeadership({ signal: abort.signal });
    abort.abort();
    await expect(aborted).rejects.toBeInstanceOf(LockAbortedError);
    expect([first!.hasLeadership, second!.hasLeadership]).toEqual([true, false]);

    const waiting = second!.awaitLeadership();
    await first!.close();
    expect((await waiting).isHeld).toBe(true);
    await expect(first!.awaitLeadership()).rejects.toBeInstanceOf(ElectionClosedError);
    const closing = [second!.close(), second!.close()];
    await Promise.all(closing);
    expect(() => second!.start()).toThrow(ElectionClosedError);
    expect(await stage().contenders()).toEqual([]);
  });

  it('reports the leader as the only participant', async () => {
    const { mine, theirs, key } = stage();
    const [first, second] = [mine, theirs].map(({ locks }, n) =>
      locks.leaderLatch(key, { id: `"Zürich" ⚖️ ${n}` }),
    );
    expect([await second!.participants(), await second!.leader()]).toEqual([[], undefined]);
    first!.start();
    await first!.awaitLeadership();
    const leader = { id: '"Zürich" ⚖️ 0', isLeader: true };
    await eventually('all know', async () => (await second!.leader())?.id === leader.id);
    second!.start();
    for (const latch of [first!, second!]) {
      expect(await latch.participants()).toEqual([leader]);
      expect(await latch.leader()).toEqual(leader);
    }
    await Promise.all([first!.close(), second!.close()]);
    await eventually('no participant leads', async () => (await second!.leader()) === undefined);
  });

  it('loses its leader when the client of the leader closes, and gets another one', async () => {
    const { mine, theirs, key } = stage();
    const [first, second] = [mine, theirs].map(({ locks }) => locks.leaderLatch(key));
    const lost: unknown[] = [];
    first!.onLeadershipLost((error) => lost.push(error?.code));
    first!.start();
    const leadership = await first!.awaitLeadership();
    second!.start();
    const closing = mine.locks.close();
    expect([first!.hasLeadership, leadership.signal.aborted]).toEqual([false, true]);
    await closing;
    await second!.awaitLeadership({ wait: 20_000 });
    await eventually('it is closed', () => first!.state === 'CLOSED');
    expect(lost).toEqual(['LOCK_LOST']);
    await expect(first!.awaitLeadership()).rejects.toThrow(LockClientClosedError);
    await first!.close();
  });

  it('ends for a waiting latch when its client closes', async () => {
    const { mine, theirs, key } = stage();
    const [first, second] = [mine, theirs].map(({ locks }) => locks.leaderLatch(key));
    first!.start();
    await first!.awaitLeadership();
    second!.start();
    const refused = expect(second!.awaitLeadership()).rejects.toThrow(LockClientClosedError);
    await theirs.locks.close();
    await refused;
    await eventually('it is closed', () => second!.state === 'CLOSED');
    expect(first!.hasLeadership).toBe(true);
  });

  it('refuses wrong options, and the key of another kind', () => {
    const { mine, key } = stage();
    const { locks } = mine;
    expect(() => locks.leaderLatch('')).toThrow(LockKeyError);
    expect(() => locks.leaderLatch(key, { id: 7 as never })).toThrow(LockOptionsError);
    const policy = { errorPolicy: '' as never };
    expect(() => locks.leaderLatch(key, policy)).toThrow(LockOptionsError);
    const selectorOf = (lead: unknown) => () => locks.leaderSelector(`${key}.s`, lead as never);
    expect(selectorOf('lead')).toThrow(LockOptionsError);
    mine.lock(`${key}.lock`);
    expect(() => locks.leaderLatch(`${key}.lock`)).toThrow(LockKeyError);
    locks.leaderLatch(key);
    expect(() => locks.leaderSelector(key, () => {})).toThrow(LockKeyError);
  });
}

/** Leader selectors on Redis. */
function leaderElectionSelectorsSuite(stage: () => LockStage): void {
  const warnings = useWarnings();

  it('lets one lead after the other, each in the scope of its leadership', async () => {
    const { mine, theirs, key } = stage();
    const reign = new LeaderSelectorReign();
    const scopes: (Lease | undefined)[] = [];
    const selectors = [mine, theirs, await stage().client()].map(({ locks }, n) =>
      locks.leaderSelector(key, (leadership) => {
        scopes.push(currentLease());
        return reign.leads(`${n}`)(leadership);
      }),
    );
    for (const selector of selectors) selector.start();
    const tokens: bigint[] = [];
    for (let term = 1; term <= 3; term++) {
      tokens.push(await (await reign.begun(term)).fencingToken());
      expect(selectors.filter(({ hasLeadership }) => hasLeadership)).toHaveLength(1);
      reign.end();
    }
    await eventually('no participant leads', async () => (await stage().contenders()).length === 0);
    expect([...reign.leaders].sort()).toEqual(['0', '1', '2']);
    expect(reign.most).toBe(1);
    expect(scopes).toEqual(reign.leaderships);
    expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => (a < b ? -1 : 1)));
    expect(await eventually('it may queue again', () => selectors[0]!.requeue())).toBe(true);
    await reign.begun(4);
  });

  it('leads again and again if it queues by itself', async () => {
    const { mine, key } = stage();
    const reign = new LeaderSelectorReign();
    const selector = mine.locks.leaderSelector(key, reign.leads(), { autoRequeue: true });
    selector.start();
    for (let term = 1; term <= 3; term++) {
      await reign.begun(term);
      if (term === 2) selector.interruptLeadership();
      else reign.end();
    }
    await selector.close();
    expect(await stage().contenders()).toEqual([]);
    expect(() => selector.requeue()).toThrow(ElectionClosedError);
  });

  it('keeps others out until the function of an interrupted one has ended', async () => {
    const { mine, theirs, key } = stage();
    const reign = new LeaderSelectorReign();
    const mayEnd = new Deferred();
    const leading = mine.locks.leaderSelector(key, () => mayEnd.promise);
    leading.start();
    await eventually('it leads', () => leading.hasLeadership);
    const next = theirs.locks.leaderSelector(key, reign.leads());
    next.start();
    leading.interruptLeadership();
    expect(leading.hasLeadership).toBe(false);
    const closing = leading.close();
    await stage().caughtUp(theirs);
    expect([await isSettled(closing), reign.leaders.length]).toEqual([false, 0]);
    mayEnd.resolve();
    await closing;
    await reign.begun(1);
    await next.close();
  });

  it('has the next one lead when one fails, which is a process warning', async () => {
    const { mine, theirs, key } = stage();
    const warn = warnings();
    const reign = new LeaderSelectorReign();
    const mayFail = new Deferred();
    const failing = mine.locks.leaderSelector(key, async () => {
      await mayFail.promise;
      throw new Error('out of ink');
    });
    failing.start();
    await eventually('it leads', () => failing.hasLeadership);
    theirs.locks.leaderSelector(key, reign.leads()).start();
    mayFail.resolve();
    await reign.begun(1);
    await failing.close();
    expect(warn.mock.calls).toEqual([[expect.stringMatching(/leader of .*out of ink/)]]);
  });

  it('ends with its client, which does not wait for its function', async () => {
    const { mine, theirs, key } = stage();
    const reign = new LeaderSelectorReign();
    const mayEnd = new Deferred();
    let leadership: Lease | undefined;
    const leading = mine.locks.leaderSelector(
      key,
      (given) => {
        leadership = given as Lease;
        return mayEnd.promise;
      },
      { autoRequeue: true },
    );
    leading.start();
    await eventually('it leads', () => leading.hasLeadership);
    const closing = mine.locks.close();
    expectLost(leadership!);
    await closing;
    theirs.locks.leaderSelector(key, reign.leads()).start();
    await reign.begun(1);
    mayEnd.resolve();
    await leading.close();
  });
}

const OWNER = /^[0-9a-f-]{36}:\d+$/;

/** What an election has on a Redis server: a lock as Redisson's `RFencedLock` makes it. */
function leaderElectionLayoutSuite(stage: () => RedisStage): void {
  it('is a hash with the leader and its description, which ends with the lease', async () => {
    const { mine, key, observer } = stage();
    const latch = mine.locks.leaderLatch(key, { id: 'web-1' });
    latch.start();
    await latch.awaitLeadership();
    expect(await observer.type(key)).toBe('hash');
    const { 'nestjs-interlock': about, ...owners } = await observer.hgetall(key);
    expect(Object.keys(owners)).toEqual([expect.stringMatching(OWNER)]);
    expect(Object.values(owners)).toEqual(['1']);
    expect(JSON.parse(about!)).toEqual({
      host: hostname(),
      pid: process.pid,
      method: 'web-1',
      since: expect.any(Number),
    });
    expect(await observer.pttl(key)).toBeGreaterThan(0);
  });

  it('keeps nothing but the counter of its tokens', async () => {
    const { mine, key, observer } = stage();
    const { token } = new LockName(key);
    for (const term of ['1', '2']) {
      const latch = mine.locks.leaderLatch(key);
      latch.start();
      const leadership = await latch.awaitLeadership();
      expect(await leadership.fencingToken()).toBe(BigInt(term));
      await latch.close();
      expect(await observer.exists(key)).toBe(0);
      expect(await observer.get(token)).toBe(term);
      expect(await observer.pttl(token)).toBe(-1);
    }
  });

  it('is a lock to all others: the leader holds it, and a holder of the lock leads in nothing', async () => {
    const { mine, theirs, key } = stage();
    const mutex = theirs.locks.mutex(key, { fenced: true });
    const latch = mine.locks.leaderLatch(key, { id: 'web-1' });
    const lease = await mutex.acquire();
    latch.start();
    const waiting = latch.awaitLeadership();
    expect(await latch.leader()).toEqual({ id: lease.holder, isLeader: true }); // as far as is known
    await lease.release();
    const leadership = await waiting;
    expect(await leadership.fencingToken()).toBeGreaterThan(await lease.hold.fencingToken());
    expect([await mutex.isLocked(), await mutex.tryAcquire()]).toEqual([true, undefined]);
    expect(await mutex.holders()).toMatchObject([{ mode: 'alone', method: 'web-1' }]);
    await latch.close();
    expect(await mutex.isLocked()).toBe(false);
  });

  it('has the prefix of its client', async () => {
    const { theirs, key } = stage();
    const prefixed = await stage().client({ namespace: 'shop:' });
    const latch = prefixed.locks.leaderLatch(key);
    latch.start();
    await latch.awaitLeadership();
    expect(await theirs.locks.mutex(`shop:${key}`).isLocked()).toBe(true);
    expect(await theirs.locks.mutex(`${key}`).isLocked()).toBe(false);
  });

  it('is granted to the next one by the message of a release', async () => {
    const { mine, theirs, key } = stage();
    const [first, second] = [mine, theirs].map(({ locks }) => locks.leaderLatch(key));
    first!.start();
    await first!.awaitLeadership();
    second!.start();
    const waiting = second!.awaitLeadership();
    await eventually('it listens', async () => (await stage().contenders()).length === 2);
    await stage().caughtUp();
    const { length } = theirs.requests;
    await first!.close();
    await waiting;
    expect(theirs.requests.length - length).toBeLessThanOrEqual(2);
  });

  it.each(['its latch', 'its client'])(
    'is released only after the signal of the leader has aborted, when %s is closed',
    async (what) => {
      const { mine, key } = stage();
      const latch = mine.locks.leaderLatch(key);
      latch.start();
      const { signal } = await latch.awaitLeadership();
      const { length } = mine.requests;
      const sent: number[] = [];
      signal.addEventListener('abort', () => sent.push(mine.requests.length));
      await (what === 'its latch' ? latch : mine.locks).close();
      expect(sent).toEqual([length]);
      expect(mine.requests).toHaveLength(length + 1);
    },
  );
}
