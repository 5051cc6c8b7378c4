import { expect, it } from '@jest/globals';
import { hostname } from 'node:os';
import { LockName } from '../../lib/redis/connection/lock-name.js';
import { eventually } from '../support/eventually.js';
import type { RedisStage } from './redis-stage.js';

const OWNER = /^[0-9a-f-]{36}:\d+$/;

/** What an election has on a Redis server: a lock as Redisson's `RFencedLock` makes it. */
export function leaderElectionLayoutSuite(stage: () => RedisStage): void {
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
