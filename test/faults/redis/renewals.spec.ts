import { beforeEach, describe, expect, it } from '@jest/globals';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import { lockRenew } from '../../../lib/redis/scripts/index.js';
import { eventually } from '../../support/time.js';
import { lossOf } from '../support/leases.js';
import {
  EXCLUSIVE_KINDS,
  EXPIRY_SCRIPT,
  expiryKeys,
  expiryOf,
  holdersOf,
  KINDS,
  onlyHolder,
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

/** A hundredth of it is between the loss and the end on the server: more than a busy machine takes for one turn. */
const LEASE = 3_000;

const stage = useRedisStage();

const expiriesOf = (held: readonly Held[]) =>
  Promise.all(held.map(({ key }) => expiryOf(stage.server, key)));

/** The holders of before have not been lost, and the server keeps each lock for longer than it would have. */
async function expectRenewed(held: readonly Held[], ends: readonly number[]): Promise<void> {
  await eventually('the first leases would be over', () => Date.now() > Math.max(...ends));
  expectHeld(held);
  const now = await expiriesOf(held);
  expect(held.filter((_, n) => now[n]! <= ends[n]!).map(({ name }) => name)).toEqual([]);
}

describe('When Redis pauses its clients', () => {
  let holder: RedisLockClient;

  beforeEach(async () => void (holder = await stage.near({ watchdogTimeout: LEASE })));

  /** When each lock would be free, in ms since 1970; read in the moment when the pause begins. */
  async function pause(held: readonly Held[], ms: number, mode: string): Promise<number[]> {
    const transaction = stage.redis.multi();
    for (const { key } of held) transaction.eval(EXPIRY_SCRIPT, 2, ...expiryKeys(key));
    const answers = await transaction.call('client', 'pause', ms, mode).exec();
    return answers!.slice(0, -1).map(([, expiry]) => Number(expiry));
  }

  it('for half the lease, whatever is held stays held', async () => {
    const held = await holdAll(KINDS, holder, stage.key);
    const ends = await pause(held, LEASE / 2, 'ALL');
    await stage.redis.set('answered when', 'the pause is over');
    await expectRenewed(held, ends);
    await releaseAll(held);
    for (const { name, key } of held)
      expect([name, await holdersOf(stage.server, key)]).toEqual([name, []]);
  });

  it.each(['ALL', 'WRITE'])(
    'for longer than the lease (%s), whatever is held is lost before it is free',
    async (mode) => {
      const held = await holdAll(EXCLUSIVE_KINDS, holder, stage.key);
      const allGranted = await queueForAll(held, await stage.near());
      const losses = lossesOf(held);
      const ends = await pause(held, 1.2 * LEASE, mode);
      const claimed = held.map(({ lease }) => Date.now() + lease.remaining());
      expect(held.filter((_, n) => claimed[n]! >= ends[n]!)).toEqual([]);
      for (const [n, lostAt] of (await losses).entries())
        expect([held[n]!.name, lostAt < ends[n]!]).toEqual([held[n]!.name, true]);
      expectLost(held, '');

      const next = await allGranted();
      expect(Date.now()).toBeGreaterThanOrEqual(Math.max(...ends));
      await releaseAll(held);
      for (const { name, key, lease } of next)
        expect([name, await holdersOf(stage.server, key)]).toEqual([name, onlyHolder(lease)]);
      expectHeld(next);
    },
  );
});

describe('When the connection of a holder', () => {
  const isRenewal = ([, sha1]: readonly string[]) => sha1 === lockRenew.sha1;
  let holder: RedisLockClient;

  /** What was not answered is not sent again by its client. */
  beforeEach(async () => {
    holder = await stage.far({ watchdogTimeout: LEASE }, { maxRetriesPerRequest: 0 });
  });

  const expiry = () => expiryOf(stage.server, stage.key);

  it('stalls in renewals, whatever is held stays held if they come through', async () => {
    const { key, proxy } = stage;
    const held = await holdAll(KINDS, holder, key);
    const ends = await expiriesOf(held);
    proxy.hold();
    const isRenewed = ({ key }: Held) =>
      proxy.commands.some((c) => isRenewal(c) && c.some((part) => part.includes(key)));
    await eventually('all renewals are on their way', () => held.every(isRenewed));
    expect(await expiriesOf(held)).toEqual(ends);
    proxy.resume();
    await expectRenewed(held, ends);
  });

  /** Waits for a renewal; resolves to the time of the new expiry. */
  function renewedAfter(earlier: number): Promise<number> {
    return eventually('it is renewed', async () => {
      const now = await expiry();
      return now > earlier && now;
    });
  }

  it('stalls, whatever is held is lost before it is free', async () => {
    const held = await holdAll(KINDS, holder, stage.key);
    const losses = lossesOf(held);
    stage.proxy.hold();
    const ends = await expiriesOf(held);
    for (const [n, lostAt] of (await losses).entries())
      expect([held[n]!.name, lostAt < ends[n]!]).toEqual([held[n]!.name, true]);
    expectLost(held, 'could not be renewed in time');
    expectHeld(await holdAll(KINDS, await stage.near(), stage.key));
  });

  it('brings the answer to a renewal late, the lease counts from when that was sent', async () => {
    const lease = await holder.mutex(stage.key).acquire();
    const first = await expiry();
    const second = await renewedAfter(first); // the server knows the script
    await eventually('the holder knows', () => Date.now() + lease.remaining() > first);
    stage.proxy.holdReplies();
    const third = await renewedAfter(second);
    await eventually('the answer is late', () => third - Date.now() < (2 / 3) * LEASE);
    const before = Date.now() + lease.remaining();
    stage.proxy.resume();
    const known = await eventually('the answer is here', () => {
      const now = Date.now() + lease.remaining();
      return now > before + 100 && now;
    });
    expect(known).toBeLessThanOrEqual(third);
  });

  it('stalls until a renewal comes too late, that does not revive the lock', async () => {
    const { key, server, proxy } = stage;
    const lease = await holder.mutex(key).acquire();
    const lost = lossOf(lease);
    proxy.hold();
    await lost;
    const last = await expiry();
    await eventually('it is free', () => Date.now() > last);
    const next = await (await stage.near()).mutex(key).acquire();
    proxy.resume();
    await holder.mutex('answered').using(() => {});

    expect([lease.isHeld, next.isHeld]).toEqual([false, true]);
    expect(await holdersOf(server, key)).toEqual(onlyHolder(next));
  });

  it('is cut in its renewals, they are sent again within the lease', async () => {
    const lease = await holder.mutex(stage.key).acquire();
    const first = await expiry();
    const loss = stage.proxy.loseReply((command) => isRenewal(command) && loss.lost < 5);
    await eventually('five answers are lost', () => loss.lost === 5);
    await eventually('the lease would be over', () => Date.now() > first);
    expect([lease.isHeld, lease.signal.aborted]).toEqual([true, false]);
    expect(await expiry()).toBeGreaterThan(first);
  });
});
