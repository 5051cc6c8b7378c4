import { describe, expect, it } from '@jest/globals';
import type { LeaderOptions } from '../../lib/core/election/election-backend.js';
import {
  ElectionClosedError,
  LockClientClosedError,
  LockKeyError,
  LockLostError,
  LockOptionsError,
} from '../../lib/core/errors/index.js';
import { Deferred, eventually, isSettled } from '../support/time.js';
import { LeaderLatchGate, LeaderLatchStage } from './backends/recipes.js';
import { Client, type Stage } from './backends/zookeeper.js';

/** How it ends, and that nothing is left. */
export function leaderLatchClosingSuite(stage: () => Stage): void {
  const latches = new LeaderLatchStage(stage);

  it('at once and for good, however often it is asked for', async () => {
    const { mine, key } = stage();
    const latch = await latches.leading(mine);
    const { leadership } = latch;
    const closed = { code: 'LOCK_ELECTION_CLOSED', key, client: 'contract' };
    const both = Promise.all([latch.close(), latch.close('NOTIFY_LEADER')]);
    expect([latch.state, latch.hasLeadership, latch.leadership]).toEqual([
      'CLOSED',
      false,
      undefined,
    ]);
    expect(leadership!.isHeld).toBe(false);
    expect(leadership!.signal.reason).toMatchObject({ why: 'its latch was closed' });
    await both;
    await latch.close();
    expect(await stage().nodes()).toEqual([]);
    expect(() => latch.start()).toThrow(ElectionClosedError);
    expect(latch.enter()).toBeUndefined();
    await expect(latch.awaitLeadership()).rejects.toMatchObject(closed);
    await expect(latch.awaitLeadership()).rejects.toBeInstanceOf(ElectionClosedError);
    await stage().caughtUp(mine);
    expect(await latch.participants()).toEqual([]);
  });

  it('before it was started', async () => {
    const latch = latches.of(stage().mine);
    const waiting = expect(latch.awaitLeadership()).rejects.toBeInstanceOf(ElectionClosedError);
    await latch.close('NOTIFY_LEADER');
    await waiting;
    expect(() => latch.start()).toThrow(ElectionClosedError);
    expect(latch.state).toBe('CLOSED');
  });

  it('while it waits: its awaitLeadership() calls reject, and the leader stays', async () => {
    const { mine, theirs } = stage();
    const leader = await latches.leading(mine);
    const latch = await latches.queued(theirs);
    const waiting = [latch.awaitLeadership(), latch.awaitLeadership({ wait: 60_000 })];
    await latch.close();
    for (const result of await Promise.allSettled(waiting))
      expect(result).toMatchObject({ reason: { code: 'LOCK_ELECTION_CLOSED' } });
    await latches.areQueued(1);
    expect(leader.hasLeadership).toBe(true);
  });

  it('while its node is made, which leaves none (Curator: testCreateDeleteRace)', async () => {
    const { mine } = stage();
    const outcomes = new Set<boolean>();
    for (let ticks = 0; ticks < 40; ticks++) {
      const latch = latches.started(mine);
      for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
      if (ticks % 2) await mine.connection.exists('/'); // answered before or after the create
      outcomes.add(latch.hasLeadership);
      await latch.close();
      expect(latch.hasLeadership).toBe(false);
    }
    await latches.areQueued(0);
    expect(outcomes).toContain(false);
  });

  it('with its client: listeners are notified, waits reject, nothing is left, and others lead', async () => {
    const { mine, theirs } = stage();
    const leader = await latches.leading(mine);
    const waiting = await latches.queued(mine);
    const other = await latches.queued(theirs);
    const lost: unknown[] = [];
    leader.onLeadershipLost((error) => lost.push(error));
    waiting.onLeadershipLost(() => lost.push('of a latch that did not lead'));
    const waits = [waiting, latches.of(mine)].map((latch) => latch.awaitLeadership());
    const { signal } = leader.leadership!;
    const closing = mine.locks.close();
    expect([leader.hasLeadership, signal.reason]).toEqual([false, lost[0]]);
    for (const result of await Promise.allSettled(waits))
      expect(result).toMatchObject({ reason: expect.any(LockClientClosedError) });
    await closing;
    await latches.areQueued(1);
    await other.awaitLeadership();
    expect(lost).toEqual([expect.any(LockLostError)]);
    expect(lost[0]).toMatchObject({ why: 'the client was closed' });
    for (const latch of [leader, waiting]) {
      await eventually('it knows', () => latch.state === 'CLOSED');
      await latch.close();
      await expect(latch.awaitLeadership()).rejects.toBeInstanceOf(LockClientClosedError);
      expect(() => latch.start()).toThrow(ElectionClosedError);
    }
    const late = latches.started(mine);
    await eventually('it knows', () => late.state === 'CLOSED');
  });

  it('while it waits, but not while it leads, when its client only refuses newcomers', async () => {
    const { mine } = stage();
    const [leader, waiting] = [await latches.leading(mine), await latches.queued(mine)];
    mine.locks.refuse();
    await eventually('it waits no longer', () => waiting.state === 'CLOSED');
    await latches.areQueued(1);
    expect([leader.state, leader.hasLeadership]).toEqual(['STARTED', true]);
    await leader.close();
    expect(await stage().nodes()).toEqual([]);
  });

  describe('and keeps others out as long as something runs under its leadership', () => {
    it('that began before', async () => {
      const { mine, theirs } = stage();
      const latch = await latches.leading(mine);
      const other = await latches.queued(theirs);
      const told = latches.toldBy(latch);
      const run = latch.enter()!;
      const token = await run.fencingToken();
      const closing = latch.close();
      expect([latch.hasLeadership, latch.enter()]).toEqual([false, undefined]);
      await stage().caughtUp(mine);
      await stage().caughtUp(theirs);
      expect([run.isHeld, run.signal.aborted, other.hasLeadership]).toEqual([true, false, false]);
      expect(await isSettled(closing)).toBe(false);
      await run.release();
      await closing;
      const next = await other.awaitLeadership();
      expect(await next.fencingToken()).toBeGreaterThan(token);
      expect(told).toEqual([]);
    });

    it('but no longer than the session lives; its end aborts the signal', async () => {
      const { mine, theirs } = stage();
      const latch = await latches.leading(mine);
      const other = await latches.queued(theirs);
      const run = latch.enter()!;
      const { signal } = run;
      const closing = latch.close();
      await stage().expire(mine);
      await closing;
      await other.awaitLeadership();
      expect(run.isHeld).toBe(false);
      expect(signal.reason).toBeInstanceOf(LockLostError);
      await run.release();
    });

    it('in several places, each of which releases its own share', async () => {
      const latch = await latches.leading(stage().mine);
      const runs = [latch.enter()!, latch.enter()!];
      const closing = latch.close();
      await runs[0]!.release();
      await runs[0]!.release();
      expect([runs[1]!.isHeld, await isSettled(closing)]).toEqual([true, false]);
      await runs[1]!.release();
      await closing;
      expect(await stage().nodes()).toEqual([]);
    });
  });

  it('independently of the lock that it was started in', async () => {
    const { mine, theirs, key } = stage();
    const latch = latches.of(mine);
    const inner = latches.of(mine);
    const lock = mine.mutex(`${key}-outer`);
    const begun = new Deferred();
    await lock.using(async () => {
      latch.start();
      const leadership = await latch.awaitLeadership();
      await leadership.run(async () => inner.start()); // no re-entry: it queues
      begun.resolve();
    });
    await begun.promise;
    await latches.areQueued(2);
    await stage().caughtUp(mine);
    expect([latch.hasLeadership, inner.hasLeadership]).toEqual([true, false]);
    await using free = await theirs.mutex(`${key}-outer`).tryAcquire();
    expect(free?.isHeld).toBe(true);
    await latch.close();
    await inner.awaitLeadership();
  });
}

/** What happens while a request of the latch is under way. */
export function leaderLatchRacesSuite(stage: () => Stage): void {
  const latches = new LeaderLatchStage(stage);

  it('the leader closes after the candidate has seen it, before it watches it (Curator: testLeadershipElectionWhenNodeDisappearsAfterChildrenAreRetrieved)', async () => {
    const { mine, theirs } = stage();
    const leader = await latches.leading(mine);
    const [first] = await latches.areQueued(1);
    await withGate(async (client, gate) => {
      const watching = gate.keep(({ op, path }) => op === 'getData' && path === first);
      const candidate = latches.started(client);
      await watching;
      const behind = await latches.queued(theirs);
      await leader.close();
      await latches.areQueued(2);
      gate.letGo();
      expect(await latches.leaderOf([candidate, behind])).toBe(candidate);
      await stage().caughtUp(theirs);
      expect(behind.hasLeadership).toBe(false);
      await candidate.close();
      await behind.awaitLeadership();
    });
  });

  it('the leader closes, and the node of the candidate is deleted: one is left (Curator: testWatchedNodeDeletedOnReconnect)', async () => {
    const { mine, stranger } = stage();
    const leader = await latches.leading(mine);
    const [first] = await latches.areQueued(1);
    await withGate(async (client, gate) => {
      const watching = gate.keep(({ op, path }) => op === 'getData' && path === first);
      const candidate = latches.started(client);
      await watching;
      const [, own] = await latches.areQueued(2);
      await leader.close();
      await stranger.delete(own!);
      gate.letGo();
      await candidate.awaitLeadership();
      const [node] = await latches.areQueued(1);
      expect(node).not.toBe(own);
    });
  });

  it('it closes while its node is made: none is left (Curator: testCreateDeleteRace)', async () => {
    await (await latches.leading(stage().mine)).close(); // makes the directory
    await withGate(async (client, gate) => {
      const making = gate.keep(({ op }) => op === 'create');
      const latch = latches.started(client);
      await making;
      await latch.close();
      gate.letGo();
      await stage().caughtUp(client);
      await latches.areQueued(0);
    });
  });

  it('its node is deleted before the servers have confirmed it: it leads by another one', async () => {
    await withGate(async (client, gate) => {
      const confirming = gate.keep(({ op }) => op === 'getData');
      const latch = latches.of(client);
      const told = latches.toldBy(latch);
      latch.start();
      await confirming;
      const [node] = await latches.areQueued(1);
      const waiting = latch.awaitLeadership();
      expect([latch.hasLeadership, await isSettled(waiting)]).toEqual([false, false]);
      await stage().stranger.delete(node!);
      gate.letGo();
      await waiting;
      expect(told).toEqual(['leads']);
      const [another] = await latches.areQueued(1);
      expect(another).not.toBe(node);
    });
  });

  it('it closes before the servers have confirmed its node: at once, and it never led', async () => {
    await withGate(async (client, gate) => {
      const confirming = gate.keep(({ op }) => op === 'getData');
      const latch = latches.of(client);
      const told = latches.toldBy(latch);
      latch.start();
      await confirming;
      await latches.areQueued(1);
      const waiting = expect(latch.awaitLeadership()).rejects.toMatchObject({
        code: 'LOCK_ELECTION_CLOSED',
      });
      await latch.close('NOTIFY_LEADER');
      await waiting;
      await latches.areQueued(0);
      gate.letGo();
      await stage().caughtUp(client);
      expect(told).toEqual([]);
    });
  });

  /** With a client of which a request can be kept back. */
  async function withGate(work: (client: Client, gate: LeaderLatchGate) => Promise<void>) {
    const { transport, servers } = await stage().backend.connect();
    const gate = new LeaderLatchGate(transport);
    const client = new Client(gate, servers, {});
    await client.locks.connect();
    try {
      await work(client, gate);
    } finally {
      await client.locks.close();
    }
  }
}

/** Bad input, at the earliest moment. */
export function leaderLatchInputSuite(stage: () => Stage): void {
  const latches = new LeaderLatchStage(stage);

  it.each([
    ['empty', ''],
    ['too long', 'x'.repeat(513)],
    ['not Unicode', '\ud800'],
    ['with a NUL', 'a\0b'],
    ['a path with a slash at its end', '/a/'],
    ['a path with an empty part', '/a//b'],
    ['a path that leads up', '/a/../b'],
    ['no text', 5 as unknown as string],
  ])('a key that is %s (Curator: testRelativePath)', (_, key) => {
    expect(() => stage().mine.locks.leaderLatch(key)).toThrow(LockKeyError);
  });

  it.each([
    ['a number', 5],
    ['null', null],
    ['an object', {}],
    ['too long', 'x'.repeat(1_000_001)],
    ['too long in UTF-8', '€'.repeat(333_334)],
  ])('an id that is %s', (_, id) => {
    const make = () => latches.of(stage().mine, { id } as LeaderOptions);
    expect(make).toThrow(LockOptionsError);
    expect(make).toThrow(/`id`.+1,000,000 bytes/);
  });

  it.each(['Session', 'none', '', null, 1, true])('the error policy %j', (errorPolicy) => {
    const make = () => latches.of(stage().mine, { errorPolicy } as LeaderOptions);
    expect(make).toThrow(LockOptionsError);
    expect(make).toThrow(/'standard' or 'session'/);
  });

  it.each([{ wait: 0 }, { wait: -1 }, { wait: NaN }, { wait: '5' }, { signal: {} }])(
    'to wait like %j, and goes on',
    async (options) => {
      const latch = await latches.leading(stage().mine);
      const waiting = latch.awaitLeadership(options as never);
      await expect(waiting).rejects.toBeInstanceOf(LockOptionsError);
      expect(latch.hasLeadership).toBe(true);
    },
  );

  describe.each<[string, (client: Client, key: string) => unknown]>([
    ['mutex', ({ locks }, key) => locks.mutex(key)],
    ['read/write lock', ({ locks }, key) => locks.readWriteLock(key)],
    ['semaphore', ({ locks }, key) => locks.semaphore(key, { permits: 1 })],
    ['shared count', ({ locks }, key) => locks.sharedCount(key, 0)],
    ['leader selector', ({ locks }, key) => locks.leaderSelector(key, () => {})],
  ])('to be of one key with a %s', (_, make) => {
    it('whichever came first', () => {
      const { mine, theirs, key } = stage();
      make(mine, key);
      expect(() => latches.of(mine)).toThrow(LockKeyError);
      latches.of(theirs);
      expect(() => make(theirs, key)).toThrow(LockKeyError);
      latches.of(theirs);
    });
  });

  it('nothing that is at the edge: ids of 1,000,000 bytes are shown as they are', async () => {
    const id = `${'€'.repeat(333_333)}x`;
    const latch = await latches.leading(stage().mine, { id });
    expect(await latch.leader()).toEqual({ id, isLeader: true });
  });
}
