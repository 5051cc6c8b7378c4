import { beforeEach, describe, expect, it } from '@jest/globals';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import { scriptCalls } from '../../redis/support/redis-stage.js';
import { calm, eventually } from '../../support/time.js';
import { lossOf } from '../support/leases.js';
import {
  EXCLUSIVE_KINDS,
  EXCLUSIVE_LOCKS,
  expiryOf,
  holdersOf,
  KINDS,
  onlyHolder,
  permitsOf,
  SEMAPHORES,
} from '../support/redis-kinds.js';
import {
  expectHeld,
  expectLost,
  type Held,
  holdAll,
  lossesOf,
  queueForAll,
  releaseAll,
  useRedisStage,
} from '../support/redis-stage.js';

/** So long that a lease which ends in a test has not ended by itself. */
const LONG = 60_000;

describe('When Redis is killed and starts again without its data,', () => {
  const stage = useRedisStage();
  let holder: RedisLockClient;

  beforeEach(async () => void (holder = await stage.near()));

  async function expectOnlyHolders(held: readonly Held[]): Promise<void> {
    for (const { name, key, lease } of held)
      expect([name, await holdersOf(stage.server, key)]).toEqual([name, onlyHolder(lease)]);
  }

  it('leases of all kinds, renewed or not, are lost as soon as there is a connection', async () => {
    const renewed = await holdAll(KINDS, holder, stage.key);
    const fixed = await holdAll(KINDS, holder, `${stage.key} fixed`, { lease: LONG });
    const held = [...renewed, ...fixed];
    const told: string[] = [];
    holder.on('lost', ({ key }) => told.push(key));
    const losses = lossesOf(held);
    await stage.forget();
    await losses;
    expectLost(held, 'forgotten');
    expect(told.sort()).toEqual(held.map(({ key }) => key).sort());
  });

  it('the release of what was lost takes nothing from the next holder', async () => {
    const before = await holdAll(EXCLUSIVE_KINDS, holder, stage.key);
    const losses = lossesOf(before);
    await stage.forget();
    const next = await holdAll(EXCLUSIVE_KINDS, await stage.near(), stage.key);
    await losses;
    await releaseAll(before);
    await expectOnlyHolders(next);
    expectHeld(next);
    await releaseAll(next);
    for (const { key } of next.slice(-SEMAPHORES.length))
      expect(await permitsOf(stage.server, key)).toMatchObject({ free: 3, taken: 0 });
  });

  it('the waiter is granted the lock, whatever its kind', async () => {
    const before = await holdAll(EXCLUSIVE_LOCKS, holder, stage.key);
    const allGranted = await queueForAll(before, await stage.near());
    await stage.forget();
    expectHeld(await allGranted());
  });

  it.each(SEMAPHORES)(
    'waiters are granted permits of a $name, no more than there are',
    async (kind) => {
      const { key } = stage;
      await kind.of(holder, key).acquire({ permits: 3 });
      const waiter = await stage.near();
      let contended = 0;
      waiter.on('contended', () => (contended += 1));
      const granted: number[] = [];
      const queued = [1, 2, 1].map(async (permits) => {
        const lease = await kind.of(waiter, key).acquire({ permits });
        granted.push(permits);
        return lease;
      });
      await eventually('all wait', () => contended === queued.length);
      await calm(() => scriptCalls(stage.server)); // what is asked in the kill is asked again before all others
      await stage.forget();
      await Promise.all(queued.slice(0, 2));
      expect(await permitsOf(stage.server, key)).toMatchObject({ free: 0, taken: 3 });
      await (await queued[0]!).release();
      expect(await queued[2]!).toMatchObject({ isHeld: true });
      expect(granted).toEqual([1, 2, 1]);
    },
  );

  it('the next leases of all kinds are renewed as ever', async () => {
    const { server, key } = stage;
    const locks = await stage.near({ watchdogTimeout: 1_500 });
    const lost = lossOf(await locks.mutex(key).acquire());
    await stage.forget();
    await lost;

    const held = await holdAll(KINDS, locks, key);
    const ends = await Promise.all(held.map((each) => expiryOf(server, each.key)));
    await eventually('the first leases would be over', () => Date.now() > Math.max(...ends));
    expectHeld(held);
    for (const [n, { name, key }] of held.entries())
      expect([name, (await expiryOf(server, key)) > ends[n]!]).toEqual([name, true]);
    await releaseAll(held);
    for (const { name, key } of held)
      expect([name, await holdersOf(server, key)]).toEqual([name, []]);
  });
});
