import { expect, it } from '@jest/globals';
import { hostname } from 'node:os';
import type { RedisStage } from './redis-stage.js';

/** Longer than any test. */
const LONG_LEASE = 600_000;
const OWNER = /^([0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}):([1-9]\d*)$/;
/** An owner in Redisson's format. */
const REDISSON = 'b983c153-7421-469a-addb-44fb92259a1b:47';

/** The keys on the servers and the messages; Redisson has to understand them. */
export function lockLayoutSuite(stage: () => RedisStage): void {
  it('is a hash with one field for its holder, and expires with the lease', async () => {
    const { mine, key } = stage();
    await using lease = await mine.mutex(key).acquire({ lease: 5_000, method: 'Orders.close' });
    const { 'nestjs-interlock': about, ...owners } = await stage().fields(key);
    expect(owners).toEqual({ [lease.holder]: '1' });
    expect(JSON.parse(about!)).toEqual({
      host: hostname(),
      pid: process.pid,
      method: 'Orders.close',
      since: expect.any(Number),
    });
    expect(await stage().keys()).toEqual([key]);
    expect(await stage().command('PTTL', key)).toBeGreaterThan(3_000);
  });

  it('has a new owner for every acquire, which begins with the id of the client', async () => {
    const { mine, theirs, key } = stage();
    const owners: string[] = [];
    for (const client of [mine, mine, theirs])
      await client.mutex(key).using(async () => {
        owners.push(Object.keys(await stage().fields(key)).find((field) => OWNER.test(field))!);
      });
    const [first, second, other] = owners.map((owner) => OWNER.exec(owner)!);
    expect(first![1]).toBe(second![1]);
    expect(Number(second![2])).toBeGreaterThan(Number(first![2]));
    expect(other![1]).not.toBe(first![1]);
  });

  it('publishes `0` on its channel when it is released, and nothing else', async () => {
    const { mine, key } = stage();
    const log = await stage().log();
    const lease = await mine.mutex(key).acquire();
    await lease.run(() => mine.mutex(key).using(() => {}));
    expect(await log.published(key)).toEqual([]);
    await lease.release();
    expect(await log.published(key)).toEqual([`${publish()} ${stage().names.channel} 0`]);
  });

  it('publishes the same when it is unlocked by force', async () => {
    const { mine, theirs, key } = stage();
    await using _ = await mine.mutex(key).acquire();
    const log = await stage().log();
    await theirs.mutex(key).forceUnlock();
    expect(await log.published(key)).toEqual([`${publish()} ${stage().names.channel} 0`]);
  });

  it('treats a key with a brace as one with its own hash tag', async () => {
    const { mine, theirs } = stage();
    const key = `{${stage().key}}:order`;
    const lease = await mine.mutex(key, { fenced: true }).acquire({ lease: LONG_LEASE });
    const { lease: waiting } = await stage().queue(theirs, theirs.mutex(key, { fenced: true }));
    await stage().listening(`redisson_lock__channel:${key}`);
    expect(await stage().keys()).toEqual([key, `redisson_lock_token:${key}`].sort());
    await lease.release();
    await using next = await waiting;
    expect(next.isHeld).toBe(true);
  });

  it('has the prefix in all its names, as with a NameMapper', async () => {
    const { mine, key } = stage();
    const prefixed = await stage().client({ prefix: 'shop:' });
    const lease = await prefixed.mutex(key, { fenced: true }).acquire({ lease: LONG_LEASE });
    expect(lease.key).toBe(key);
    expect(await stage().keys()).toEqual([`redisson_lock_token:{shop:${key}}`, `shop:${key}`]);

    const whole = mine.mutex(`shop:${key}`);
    expect(await whole.tryAcquire()).toBeUndefined();
    await using _ = await mine.mutex(key).acquire(); // another lock
    const { lease: waiting } = await stage().queue(mine, whole);
    await lease.release();
    await using next = await waiting;
    expect(next.isHeld).toBe(true);
  });

  it('waits for a holder of Redisson until its message', async () => {
    const { mine, key } = stage();
    await stage().command('HSET', key, REDISSON, 2);
    await stage().command('PEXPIRE', key, LONG_LEASE);
    expect(await mine.mutex(key).tryAcquire()).toBeUndefined();
    const { lease: waiting } = await stage().queue(mine);
    await stage().listening(stage().names.channel);
    expect(await stage().fields(key)).toEqual({ [REDISSON]: '2' });

    await stage().command('DEL', key);
    await stage().command(publish(), stage().names.channel, '0');
    await using next = await waiting;
    expect(next.isHeld).toBe(true);
  });

  it('waits for a holder of Redisson until the end of its lease', async () => {
    const { mine, key } = stage();
    await stage().command('HSET', key, REDISSON, 1);
    await stage().command('PEXPIRE', key, 400);
    await using next = await mine.mutex(key).acquire({ wait: 5_000 });
    expect(await stage().fields(key)).toMatchObject({ [next.holder]: '1' });
  });

  it('counts as free once its key is deleted, and the former holder does not affect the next', async () => {
    const { mine, theirs, key } = stage();
    const lease = await mine.mutex(key).acquire();
    await stage().command('DEL', key);
    const next = await theirs.mutex(key).acquire();
    const log = await stage().log();
    await lease.release();
    expect(await log.published(key)).toEqual([]); // it woke no waiter: it had nothing to release
    expect(next.isHeld).toBe(true);
    await next.release();
  });

  function publish(): string {
    return stage().isCluster ? 'SPUBLISH' : 'PUBLISH';
  }
}
