import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Lease } from '../../lib/core/lease.js';
import type { LeaderLatch } from '../../lib/core/election/leader-latch.js';
import { eventually } from '../support/eventually.js';
import { expectLost } from './expect-lost.js';
import type { LeaderElectionGround, MortalClient } from './leader-election-ground.js';
import { LeaderSelectorReign } from './leader-selector-reign.js';

const PATIENCE = { within: 20_000 };

/** What befalls leaders on Redis. */
export function leaderElectionAccidentsSuite(ground: () => LeaderElectionGround): void {
  const stage = () => ground().stage;
  const one = (latches: readonly LeaderLatch[]) =>
    eventually(
      'exactly one leads',
      () => latches.filter(({ hasLeadership }) => hasLeadership).length === 1,
      PATIENCE,
    );

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

  describe('with a short lease', () => {
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
      await eventually('leases are over', () => performance.now() - startedAt > 4_000);
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
  });
}
