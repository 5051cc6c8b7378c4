import { expect } from '@jest/globals';
import type { RedisAcquireOptions, RedisLease } from '../../lib/redis/locks/redis-lease.js';
import { redisCommands } from '../../lib/redis/redis-write.js';
import { lockRenew } from '../../lib/redis/scripts/index.js';
import { eventually } from '../support/time.js';
import type { OnRedis } from './support/redis-stage.js';

const handOff = { atMost: 1_000_000, for: 600_000 };

/** What of a mutex on Redis is released, although it may be handed on, and how its lease is kept. */
export function handOffSuite({ it, stage }: OnRedis): void {
  /** Has a second caller wait while `use` has the first one's lease; resolves to whether that was handed on. */
  async function isHandedOn(
    use: (lease: RedisLease) => unknown,
    { first = {}, second = {} }: Partial<Record<'first' | 'second', RedisAcquireOptions>> = {},
  ): Promise<boolean> {
    const { mine, key } = stage();
    const mutex = mine.mutex(key, { handOff });
    const lease = await mutex.acquire(first);
    const counts: (number | undefined)[] = [];
    const stopCounting = mine.on('acquired', ({ handOffs }) => counts.push(handOffs));
    const waiting = new Promise<void>((resolve) => mine.on('contended', () => resolve()));
    const next = mutex.acquire(second);
    await waiting;
    await use(lease);
    await lease.release();
    await (await next).release();
    stopCounting();
    return counts[0] !== undefined;
  }

  it('hands on a lease that is renewed, of which nothing was shown', async () => {
    expect(await isHandedOn(() => {})).toBe(true);
  });

  it.each<[string, (lease: RedisLease) => unknown]>([
    ['an extended lease', (lease) => lease.extend(20_000)],
    ['a lease whose token was asked for', (lease) => lease.fencingToken()],
  ])('does not hand on %s', async (_, use) => {
    expect(await isHandedOn(use)).toBe(false);
  });

  it('does not hand on a lease by which something was written', async () => {
    const write = redisCommands([['set', `{${stage().key}}:data`, '1']]);
    expect(await isHandedOn((lease) => lease.guard(write))).toBe(false);
    await stage().command('DEL', `{${stage().key}}:data`);
  });

  it.each<[string, Partial<Record<'first' | 'second', RedisAcquireOptions>>]>([
    ['from a caller with a lease of its own', { first: { lease: 20_000 } }],
    ['from a caller with a lease of its own, as long as the others', { first: { lease: 30_000 } }],
    ['to a caller with a lease of its own', { second: { lease: 20_000 } }],
  ])('does not hand on a lock %s', async (_, options) => {
    expect(await isHandedOn(() => {}, options)).toBe(false);
  });

  it('asks the server again before a sixth of the lease is over, so that the lock is never lost', async () => {
    const client = await stage().client({ watchdogTimeout: 600, handOff });
    const mutex = client.mutex(stage().key);
    const counts: number[] = [];
    let lost = 0;
    client.on('acquired', ({ handOffs = 0 }) => counts.push(handOffs));
    client.on('lost', () => (lost += 1));
    client.on('endangered', () => (lost += 1));
    let isOver = false;
    const callers = Array.from({ length: 3 }, async () => {
      while (!isOver) await mutex.using(() => new Promise((resolve) => setTimeout(resolve, 5)));
    });
    await eventually(
      'it was handed on, and granted again ten times',
      () => counts.filter((times) => times === 0).length > 10,
      { within: 30_000 },
    );
    isOver = true;
    await Promise.all(callers);
    expect(lost).toBe(0);
    expect(counts.some((times) => times > 1)).toBe(true);
  });

  it('renews nothing for those that have handed it on', async () => {
    const client = await stage().client({ watchdogTimeout: 600, handOff });
    const { key } = stage();
    const [mutex, other] = [client.mutex(`{${key}}:a`), client.mutex(`{${key}}:b`)];
    await Promise.all(Array.from({ length: 3 }, () => mutex.using(() => {})));
    const log = await stage().log();
    const lease = await other.acquire();
    const renewalsOf = async (name: string) =>
      (await log.commands(lockRenew.sha1)).filter((line) => line.includes(name));
    await eventually('the other is renewed', async () => (await renewalsOf(other.key)).length > 3);
    expect(await renewalsOf(mutex.key)).toEqual([]);
    await lease.release();
  });

  it('shows the present caller among its holders, and the first one to other clients', async () => {
    const { mine, theirs, key } = stage();
    const mutex = mine.mutex(key, { handOff: { ...handOff, keep: handOff.for } });
    const methods = async (of: typeof mutex) => (await of.holders()).map(({ method }) => method);
    const first = await mutex.acquire({ method: 'Seats.take' });
    const next = mutex.acquire({ method: 'Seats.free' });
    expect(await methods(mutex)).toEqual(['Seats.take']);
    await first.release();
    const second = await next;
    expect(await methods(mutex)).toEqual(['Seats.free']);
    expect(await methods(theirs.mutex(key))).toEqual(['Seats.take']);
    await second.release();
    expect(await methods(mutex)).toEqual([undefined]);
  });

  it('does not hand on a lock after its connection was interrupted', async () => {
    const { client, interrupt } = await stage().clientToInterrupt();
    const mutex = client.mutex(stage().key, { handOff });
    const first = await mutex.acquire();
    const counts: (number | undefined)[] = [];
    client.on('acquired', ({ handOffs }) => counts.push(handOffs));
    const next = mutex.acquire();
    await interrupt();
    await first.release();
    await (await next).release();
    expect(counts).toEqual([undefined]);
  });
}
