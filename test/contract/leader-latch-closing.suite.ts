import { describe, expect, it } from '@jest/globals';
import {
  ElectionClosedError,
  LockClientClosedError,
  LockLostError,
} from '../../lib/core/errors/index.js';
import { Deferred } from '../support/deferred.js';
import { eventually } from '../support/eventually.js';
import { isSettled } from '../support/is-settled.js';
import { LeaderLatchStage } from './leader-latch-stage.js';
import type { Stage } from './stage.js';

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
