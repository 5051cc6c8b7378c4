import { describe, expect, it } from '@jest/globals';
import { LockConnectionError } from '../../lib/core/errors/index.js';
import type { LeaderLatch } from '../../lib/core/election/leader-latch.js';
import type { Lease } from '../../lib/core/lease.js';
import { onRedLock } from '../redis/red-lock-stage.js';
import { eventually } from '../support/eventually.js';
import { expectLost } from './expect-lost.js';

const TIMES = { watchdogTimeout: 5_000, nodeTimeout: 1_500 };

describe('An election on five independent Redis servers of which some are away', () => {
  const stage = onRedLock(5);

  /** One that leads, on all servers, and one that follows. */
  const latches = async (): Promise<[LeaderLatch, LeaderLatch]> => {
    const [mine, theirs] = await stage().clients(2, TIMES);
    const first = await eventually('one leads by all servers', async () => {
      const latch = mine!.leaderLatch(stage().key, { id: 'candidate 0' });
      latch.start();
      await latch.awaitLeadership();
      if (await stage().isOnAll()) return latch;
      return void (await latch.close());
    });
    const second = theirs!.leaderLatch(stage().key, { id: 'candidate 1' });
    second.start();
    return [first, second];
  };

  it.each(['kill', 'freeze'] as const)('goes on without a minority: %s', async (how) => {
    const { servers } = stage();
    const [first, second] = await latches();
    const { leadership } = first;
    for (const i of [1, 3]) await servers.all[i]![how]();
    const startedAt = performance.now();
    await eventually('leases are over', () => performance.now() - startedAt > 6_000);
    expect([first.leadership === leadership, leadership!.isHeld]).toEqual([true, true]);
    for (const latch of [first, second])
      expect(await latch.participants()).toEqual([{ id: 'candidate 0', isLeader: true }]);
    const token = await leadership!.fencingToken();
    await first.close();
    const next = await second.awaitLeadership({ wait: 20_000 });
    expect(await next.fencingToken()).toBeGreaterThan(token);
    await second.close();
  });

  it('has no leader without a majority, and one when that is back', async () => {
    const { servers } = stage();
    const both = await latches();
    const { leadership } = both[0];
    await servers.kill(0, 2, 4);
    await eventually('it knows', () => leadership!.signal.aborted);
    expectLost(leadership as Lease);
    expect(both.some(({ hasLeadership }) => hasLeadership)).toBe(false);
    await expect(both[1].leader()).rejects.toBeInstanceOf(LockConnectionError);
    await servers.restore();
    const leading = () => both.filter(({ hasLeadership }) => hasLeadership).length;
    await eventually('one leads', () => leading() === 1, { within: 20_000 });
    for (const latch of both) await latch.close();
    await stage().isEmpty();
  });
});
