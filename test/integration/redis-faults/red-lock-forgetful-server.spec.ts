import { describe, expect, it } from '@jest/globals';
import { onRedLock } from '../../redis/red-lock-stage.js';
import { eventually } from '../../support/eventually.js';
import { RedisProxy } from '../../support/redis-proxy.js';
import { lossOf } from '../support/loss-of.js';

const LEASE = 9_000;

/**
 * Servers that keep nothing over a restart. A lock is granted by three of five while the other two are away; then one of the
 * three forgets it.
 */
describe('When a server forgets a lock that a bare majority holds,', () => {
  const stage = onRedLock();

  /** Holds it on the first three, with a lease that is not renewed; the others are down. */
  async function holdOnThree(third: object) {
    const { key, servers } = stage();
    const { nodes } = servers;
    const holder = await stage().client({
      nodes: [...nodes.slice(0, 2), third, ...nodes.slice(3)],
    });
    const rival = await stage().client();
    const lost = new Set<string>();
    holder.on('connection', ({ reason }) => void lost.add(reason.split(':')[0]!));
    await servers.kill(3, 4);
    await eventually('it knows that two are down', () => lost.size === 2); // else it asks them, too, once they are back
    const lease = await holder.mutex(key).acquire({ lease: LEASE });
    expect(await servers.having(key)).toBe(3);
    return { lease, mutex: rival.mutex(key) };
  }

  it('there are two holders if it comes back before the first one hears of it: what RedLock cannot exclude', async () => {
    const { servers } = stage();
    const proxy = await RedisProxy.start(servers.all[2]!);
    try {
      const { lease, mutex } = await holdOnThree({ ...servers.nodes[2], port: proxy.port });
      proxy.hold(); // between the holder and the server
      await servers.all[2]!.restart();
      await servers.restore();
      const theirs = await eventually('they are all asked', () => mutex.tryAcquire());
      expect([theirs.isHeld, lease.isHeld]).toEqual([true, true]);

      const lost = lossOf(lease);
      proxy.resume();
      await lost;
      expect([theirs.isHeld, lease.isHeld]).toEqual([true, false]);
    } finally {
      await proxy.stop();
    }
  });

  it('there is one if it comes back when the longest lease is over', async () => {
    const { servers } = stage();
    const { lease, mutex } = await holdOnThree(servers.nodes[2]!);
    const endsBy = Date.now() + LEASE; // every lease that was granted before
    await servers.kill(2);
    await servers.all[3]!.restart();
    await servers.all[4]!.restart();
    await eventually('four answer, and only two of them grant it', async () => {
      const granted = await mutex.tryAcquire();
      return granted === undefined;
    });
    expect(lease.isHeld).toBe(true);
    await eventually('all leases of then are over', () => Date.now() > endsBy, {
      within: 2 * LEASE,
    });
    await servers.all[2]!.restart();
    const theirs = await mutex.acquire({ wait: 10_000 });
    expect([theirs.isHeld, lease.isHeld]).toEqual([true, false]);
  });
});
