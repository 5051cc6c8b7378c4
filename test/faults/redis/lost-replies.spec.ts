import { describe, expect, it } from '@jest/globals';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import type { RedisSemaphore } from '../../../lib/redis/semaphores/redis-semaphore.js';
import { eventually, isSettled } from '../../support/time.js';
import { byTier } from '../../support/tier.js';
import {
  holdersOf,
  KINDS,
  type Kind,
  locksLeft,
  onlyHolder,
  PERMITS,
} from '../support/redis-kinds.js';
import { useRedisStage } from '../support/redis-stage.js';

/** For each kind. */
const LOSSES = byTier({ quick: 20, standard: 50, long: 500 });

type Lost = 'acquire' | 'release';
const turn = (n: number): Lost => (n % 2 === 0 ? 'acquire' : 'release');

describe('When the reply is lost', () => {
  const stage = useRedisStage();

  /** @param maxRetriesPerRequest 0: the client does not send again what was not answered, so we do */
  const connect = (maxRetriesPerRequest: number | null): Promise<RedisLockClient> =>
    stage.far({}, { retryStrategy: () => 1, maxRetriesPerRequest });

  /** Does something while the reply to the next script about that key is lost. */
  async function losing<T>(key: string, work: () => Promise<T>): Promise<T> {
    const loss = stage.proxy.loseReply(
      (command) => /^eval/i.test(command[0]!) && command.includes(key) && loss.lost === 0,
    );
    const result = await work();
    loss.stop();
    expect(loss.lost).toBe(1);
    return result;
  }

  /** Acquires and releases, of which one is not answered; afterwards all is free. */
  async function cycle({ of }: Kind, locks: RedisLockClient, key: string, lost: Lost) {
    const acquire = () => of(locks, key).acquire();
    const lease = await (lost === 'acquire' ? losing(key, acquire) : acquire());
    expect(await holdersOf(stage.server, key)).toEqual(onlyHolder(lease));
    expect(lease.isHeld).toBe(true);
    await (lost === 'release' ? losing(key, () => lease.release()) : lease.release());
    // A release that takes long goes on in the background.
    await eventually('it is free', async () => (await holdersOf(stage.server, key)).length === 0);
  }

  /** The same, of permits without an owner. */
  async function plainCycle(semaphore: RedisSemaphore, lost: Lost): Promise<void> {
    const { key } = semaphore;
    const acquire = () => semaphore.acquire({ permits: 2 });
    await (lost === 'acquire' ? losing(key, acquire) : acquire());
    expect(await stage.redis.get(key)).toBe('1');
    const release = () => semaphore.release(2);
    await (lost === 'release' ? losing(key, release) : release());
    expect(await stage.redis.get(key)).toBe('3');
  }

  /** Only what the kinds keep is there; all permits are free. */
  async function expectOnlyKept(kept: readonly string[]): Promise<void> {
    expect((await locksLeft(stage.server)).sort()).toEqual([...kept].sort());
    for (const key of kept) expect([key, await stage.redis.get(key)]).toEqual([key, `${PERMITS}`]);
  }

  const nothingElse = () =>
    eventually('nothing else is left', async () => (await locksLeft(stage.server)).length === 1);

  describe.each([
    ['sends it again', null],
    ['does not send it again', 0],
  ])('and the Redis client %s,', (_name, maxRetriesPerRequest) => {
    it.each(KINDS)('a $name is acquired once, and released', async (kind) => {
      const locks = await connect(maxRetriesPerRequest);
      const { key } = stage;
      await kind.of(locks, `${key} before`).using(() => {}); // the server knows the scripts
      for (const lost of ['acquire', 'release'] as const) await cycle(kind, locks, key, lost);
      await expectOnlyKept([...kind.kept(`${key} before`), ...kind.kept(key)]);
    });

    it('permits without an owner are taken once', async () => {
      const semaphore = (await connect(maxRetriesPerRequest)).plainSemaphore(stage.key);
      await semaphore.trySetPermits(3);
      await plainCycle(semaphore, 'acquire');
      await nothingElse();
    });
  });

  it(`${LOSSES} times, nothing is held twice, and nothing stays or is gone`, async () => {
    const keys = KINDS.map(({ name }) => `${stage.key} ${name}`);
    const work = KINDS.map(async (kind, i) => {
      const locks = await connect(null);
      for (let n = 0; n < LOSSES; n++) await cycle(kind, locks, keys[i]!, turn(n));
    });
    await Promise.all(work);
    await expectOnlyKept(KINDS.flatMap(({ kept }, i) => kept(keys[i]!)));
  }, 120_000);

  it(`${LOSSES} times, no permit without an owner is taken twice, and none is lost`, async () => {
    const semaphore = (await connect(null)).plainSemaphore(stage.key);
    await losing(stage.key, () => semaphore.trySetPermits(3));
    for (let n = 0; n < LOSSES; n++) await plainCycle(semaphore, turn(n));
    await nothingElse();
  });

  it('and the waiter has given up, permits without an owner come back', async () => {
    const { key, proxy, redis } = stage;
    const semaphore = (await connect(null)).plainSemaphore(key);
    await semaphore.trySetPermits(3);
    for (let n = 0; n < byTier({ quick: 5, standard: 10, long: 50 }); n++) {
      const abort = new AbortController();
      const loss = proxy.loseReply(([name, , , on]) => /^eval/i.test(name!) && on === key);
      const acquired = semaphore.acquire({ permits: 2, signal: abort.signal });
      await eventually('it was lost', () => loss.lost > 0);
      abort.abort();
      await expect(acquired).rejects.toMatchObject({ name: 'LockAbortedError' });
      loss.stop();
      await eventually('they are back', async () => (await redis.get(key)) === '3');
    }
    await nothingElse();
  });

  it(`${LOSSES} times, a latch is counted down by one, and the last one opens it`, async () => {
    const { key, server, redis } = stage;
    const latch = (await connect(null)).countDownLatch(key);
    await latch.trySetCount(LOSSES);
    const opened = (await stage.near()).countDownLatch(key).await();
    for (let left = LOSSES - 1; left > 0; left--) {
      expect(await losing(key, () => latch.countDown())).toBe(left);
      expect(await redis.get(key)).toBe(`${left}`);
    }
    expect(await isSettled(opened)).toBe(false);
    expect(await losing(key, () => latch.countDown())).toBe(0);
    await opened;
    await eventually('nothing is left', async () => (await locksLeft(server)).length === 0);
  });

  it('a waiter for a latch asks again, and goes on when it opens', async () => {
    const latch = (await connect(null)).countDownLatch(stage.key);
    await latch.trySetCount(1);
    let isOpen = false;
    const opened = losing(stage.key, () => latch.await().then(() => (isOpen = true)));
    await stage.subscribed(1);
    expect(isOpen).toBe(false);
    expect(await latch.countDown()).toBe(0);
    await opened;
    expect(isOpen).toBe(true);
  });
});
