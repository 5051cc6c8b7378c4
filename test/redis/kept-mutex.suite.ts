import { expect } from '@jest/globals';
import type { HandOff } from '../../lib/core/lock.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { lockWanted } from '../../lib/redis/scripts/index.js';
import { eventually } from '../support/time.js';
import type { OnRedis } from './support/redis-stage.js';

const LONG = 600_000;
const OFTEN: HandOff = { atMost: 1_000_000, for: LONG, keep: LONG };

/** What a mutex that is kept on Redis costs others, and what ends that. */
export function keptMutexSuite({ it, stage }: OnRedis): void {
  const isKept = (client = stage().mine) => client.status().kept === 1;

  /** Has the client use the lock; resolves when it has looked for others that want it. */
  async function keptBy(client: RedisLockClient, handOff = OFTEN, key = stage().key) {
    const log = await stage().log();
    await client.mutex(key, { handOff }).using(() => {});
    await eventually('it looks', async () => (await log.commands(lockWanted.sha1)).length > 0);
    await client.ping();
  }

  /** A connection that listens to the lock as a waiter of Redisson does. */
  async function listen(): Promise<() => Promise<unknown>> {
    const redisson = (await stage().deployment.masterOf(stage().key)).client();
    const { channel } = stage().names;
    const sharded = stage().publish === 'SPUBLISH' ? 's' : '';
    await redisson.call(`${sharded}subscribe`, channel);
    await stage().listening(channel);
    return () => redisson.call(`${sharded}unsubscribe`, channel);
  }

  it('is given back to a waiter of Redisson that came while it was held', async () => {
    const { mine, key } = stage();
    const lease = await mine.mutex(key, { handOff: OFTEN }).acquire();
    const leave = await listen();
    await lease.release();
    await eventually('it is given back', () => !isKept());
    expect(await stage().command('EXISTS', key)).toBe(0);
    await leave();
  });

  it('is kept from a later waiter of Redisson for as long as the option says', async () => {
    const { mine, key } = stage();
    await keptBy(mine, { ...OFTEN, keep: 300 });
    const leave = await listen();
    expect(isKept()).toBe(true);
    await eventually('it is given back', async () => (await stage().command('EXISTS', key)) === 0);
    await leave();
  });

  it('is given back to the later of two waiters after the first one has given up', async () => {
    const { mine, theirs, key } = stage();
    await keptBy(mine);
    expect(await theirs.mutex(key).tryAcquire()).toBeUndefined();
    await using lease = await theirs.mutex(key).acquire();
    expect(lease.isHeld).toBe(true);
  });

  it('is given back to who wants it among other locks', async () => {
    const { mine, theirs, key } = stage();
    for (const client of [mine, theirs]) {
      await keptBy(mine);
      const keys = [`{${key}}`, key].map((each) => client.mutex(each));
      await using leases = await client.multiLock(keys).acquire();
      expect([leases.isHeld, isKept()]).toEqual([true, false]);
    }
  });

  it('is given back to a caller who may not wait, and may not have it as it is', async () => {
    const { mine, key } = stage();
    await keptBy(mine);
    const mutex = mine.mutex(key, { handOff: OFTEN });
    await using lease = await mutex.tryAcquire({ lease: 20_000 });
    expect([lease?.isHeld, await mutex.tryAcquire()]).toEqual([true, undefined]);
  });

  it('is given back when it is unlocked by force', async () => {
    const { mine, theirs, key } = stage();
    await keptBy(mine);
    expect(await mine.mutex(key).forceUnlock()).toBe(true);
    await using lease = await theirs.mutex(key).acquire();
    expect([lease.isHeld, isKept()]).toEqual([true, false]);
  });

  it('is given back after a sixth of its lease, before which it would have to be renewed', async () => {
    const client = await stage().client({ watchdogTimeout: 1_200 });
    await client.mutex(stage().key, { handOff: OFTEN }).using(() => {});
    await eventually('it is given back', () => !isKept(client), { within: 10_000 });
    await stage().isEmpty();
  });

  it('is not given to the next caller after its connection was interrupted', async () => {
    const { client, interrupt } = await stage().clientToInterrupt();
    await keptBy(client);
    const counts: (number | undefined)[] = [];
    client.on('acquired', ({ handOffs }) => counts.push(handOffs));
    await interrupt();
    await client.mutex(stage().key, { handOff: OFTEN }).using(() => {});
    expect(counts).toEqual([undefined]);
  });

  it.each([
    ['a third of that of others', 1_000, 10_000],
    ['six times as long as it is kept', 4_000, 24_000],
    ['no longer than that of others', LONG, 30_000],
  ])('has a lease that is %s', async (_, keep, most) => {
    const { mine, key } = stage();
    await using lease = await mine.mutex(key, { handOff: { ...OFTEN, keep } }).acquire();
    const left = Number(await stage().command('PTTL', key));
    expect([lease.isHeld, left <= most, left > most - 5_000]).toEqual([true, true, true]);
  });

  it('leaves no key and no subscription', async () => {
    const { mine, theirs, key } = stage();
    const visit = (client: RedisLockClient) =>
      client.mutex(key, { handOff: { ...OFTEN, keep: 50 } }).using(() => {});
    for (let i = 0; i < 5; i++) await Promise.all([visit(mine), visit(mine), visit(theirs)]);
    await eventually('it is kept no more', () => !isKept(mine) && !isKept(theirs));
    await stage().isEmpty();
  });
}
