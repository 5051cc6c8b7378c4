import { hostname } from 'node:os';
import { describe, expect } from '@jest/globals';
import { LockLostError } from '../../lib/core/errors/index.js';
import type { Script } from '../../lib/redis/connection/script.js';
import { lockAcquire, lockRelease, lockRenew } from '../../lib/redis/scripts/index.js';
import { expectLost } from '../contract/backends/leases.js';
import { eventually } from '../support/time.js';
import { isGranted, type OnRedis } from './support/redis-stage.js';

const OWNER = 'b983c153-7421-469a-addb-44fb92259a1b:1';

/** The scripts: what happens when one is sent again, and when a server does not know it. */
export function lockScriptsSuite({ it, test, stage }: OnRedis): void {
  describe('sent twice', () => {
    it('an acquire counts once, and only prolongs the lease', async () => {
      const { key } = stage();
      expect(await acquire([key], 60_000, 'first')).toEqual([1, 0]);
      expect(await acquire([key], 5_000, 'second')).toEqual([1, 0]);
      expect(await stage().fields(key)).toEqual({ [OWNER]: '1', 'nestjs-interlock': 'first' });
      expect(await stage().command('PTTL', key)).toBeGreaterThan(50_000);
      expect(await acquire([key], 120_000, 'third')).toEqual([1, 0]);
      expect(await stage().command('PTTL', key)).toBeGreaterThan(110_000);
      await stage().command('DEL', key);
    });

    it('a fenced acquire gets one token', async () => {
      const { key } = stage();
      const { token } = stage().names;
      for (const about of ['first', 'second'])
        expect(await acquire([key, token], 5_000, about)).toEqual([1, 1]);
      expect(await stage().fields(key)).toMatchObject({ [OWNER]: '1' });
      expect(await stage().command('GET', token)).toBe('1');
      await stage().command('DEL', key);
    });

    it('a release ends no other hold, and wakes no waiter', async () => {
      const { theirs, key } = stage();
      await acquire([key], 5_000, '');
      expect(await release(key)).toBe(0);
      await using _ = await theirs.mutex(key).acquire();
      const log = await stage().log();
      expect(await release(key)).toBe(-1);
      expect(await log.published(key)).toEqual([]);
      expect(await stage().command('EXISTS', key)).toBe(1);
    });

    it('an acquire takes nothing after a release that has left a tombstone', async () => {
      const { key } = stage();
      await acquire([key], 5_000, '');
      expect(await release(key, tombstone(key))).toBe(0);
      await expect(acquire([key], 5_000, '')).rejects.toThrow('GONE');
      expect(await stage().command('EXISTS', key)).toBe(0);
      expect(await stage().command('PTTL', tombstone(key))).toBeGreaterThan(900_000);
    });

    it('a renewal does not retake the lock after its release', async () => {
      const { theirs, key } = stage();
      expect(await renew(key, 60_000)).toEqual([0]);
      expect(await stage().keys()).toEqual([]);
      await using _ = await theirs.mutex(key).acquire({ lease: 5_000 });
      expect(await renew(key, 60_000)).toEqual([0]);
      expect(await stage().command('PTTL', key)).toBeLessThanOrEqual(5_000);
    });
  });

  describe('forgotten by the servers', () => {
    test('are sent in full again, and by their digest after that', async () => {
      const { mine, key } = stage();
      await forget();
      const log = await stage().log();
      for (let time = 0; time < 3; time++) await (await mine.mutex(key).acquire()).release();
      const sent = await log.commands(`"${key}"`);
      const words = sent.map((line) => /"(eval|evalsha)"/.exec(line)?.[1]).filter(Boolean);
      expect(words).toEqual([
        ...['evalsha', 'eval', 'evalsha', 'eval'],
        ...['evalsha', 'evalsha', 'evalsha', 'evalsha'],
      ]);
    });

    test('do not end what is held, whatever command comes next', async () => {
      const { mine, theirs, key } = stage();
      const lease = await mine.mutex(key).acquire();
      const { lease: waiting } = await stage().queue(theirs);
      await forget();
      await lease.extend(60_000);
      await forget();
      expect(await lease.fencingToken()).toBe(1n);
      await forget();
      await lease.release();
      const next = await waiting;
      await forget();
      expect(await mine.mutex(key).forceUnlock()).toBe(true);
      await next.release();
    });

    test('are sent in full again by the renewal', async () => {
      const { key } = stage();
      const client = await stage().client({ watchdogTimeout: 1_000 });
      const lease = await client.mutex(key).acquire();
      await forget();
      const log = await stage().log();
      const renewals = async () => log.commands(lockRenew.sha1);
      await eventually('it is renewed', async () => (await renewals()).length > 3);
      expect(lease.isHeld).toBe(true);
      await lease.release();
    });
  });

  function acquire(keys: string[], lease: number, about: string): Promise<unknown> {
    return run(lockAcquire, keys, [lease, OWNER, about, 1, tombstone(keys[0]!)]);
  }

  function release(key: string, left = ''): Promise<unknown> {
    const { publish } = stage();
    return run(lockRelease, [key], [OWNER, publish, stage().names.channel, left, '']);
  }

  function renew(key: string, lease: number): Promise<unknown> {
    return run(lockRenew, [key, key], [OWNER, lease, 'alone', 0, 0]);
  }

  function tombstone(key: string): string {
    return `interlock_gone:{${key}}:${OWNER}`;
  }

  function run(
    { source }: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    return stage().command('EVAL', source, keys.length, ...keys, ...args);
  }

  async function forget(): Promise<void> {
    await stage().commands('SCRIPT', 'FLUSH');
  }
}

/** Longer than any test. */
const LONG_LEASE = 600_000;
const OWN_FORMAT =
  /^([0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}):([1-9]\d*)$/;
/** An owner in Redisson's format. */
const REDISSON = 'b983c153-7421-469a-addb-44fb92259a1b:47';

/** The keys on the servers and the messages; Redisson has to understand them. */
export function lockLayoutSuite({ it, test, stage }: OnRedis): void {
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
        owners.push(
          Object.keys(await stage().fields(key)).find((field) => OWN_FORMAT.test(field))!,
        );
      });
    const [first, second, other] = owners.map((owner) => OWN_FORMAT.exec(owner)!);
    expect(first![1]).toBe(second![1]);
    expect(Number(second![2])).toBeGreaterThan(Number(first![2]));
    expect(other![1]).not.toBe(first![1]);
  });

  test('publishes `0` on its channel when it is released, and nothing else', async () => {
    const { mine, key } = stage();
    const log = await stage().log();
    const lease = await mine.mutex(key).acquire();
    await lease.run(() => mine.mutex(key).using(() => {}));
    expect(await log.published(key)).toEqual([]);
    await lease.release();
    expect(await log.published(key)).toEqual([`${stage().publish} ${stage().names.channel} 0`]);
  });

  test('publishes the same when it is unlocked by force', async () => {
    const { mine, theirs, key } = stage();
    await using _ = await mine.mutex(key).acquire();
    const log = await stage().log();
    await theirs.mutex(key).forceUnlock();
    expect(await log.published(key)).toEqual([`${stage().publish} ${stage().names.channel} 0`]);
  });

  test('treats a key with a brace as one with its own hash tag', async () => {
    const { mine, theirs } = stage();
    const key = `{${stage().key}}:order`;
    const lease = await mine.mutex(key, { fenced: true }).acquire({ lease: LONG_LEASE });
    const { lease: waiting } = await stage().queue(theirs, theirs.mutex(key, { fenced: true }));
    await stage().listening(`redisson_lock__channel:${key}`);
    expect(await stage().keys()).toEqual(
      [key, `redisson_lock_token:${key}`, `interlock_waiters:${key}`].sort(),
    );
    await lease.release();
    await isGranted(waiting);
  });

  test('has the prefix in all its names, as with a NameMapper', async () => {
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
    await isGranted(waiting);
  });

  test('waits for a holder of Redisson until its message', async () => {
    const { mine, key } = stage();
    await stage().command('HSET', key, REDISSON, 2);
    await stage().command('PEXPIRE', key, LONG_LEASE);
    expect(await mine.mutex(key).tryAcquire()).toBeUndefined();
    const { lease: waiting } = await stage().queue(mine);
    await stage().listening(stage().names.channel);
    expect(await stage().fields(key)).toEqual({ [REDISSON]: '2' });

    await stage().command('DEL', key);
    await stage().command(stage().publish, stage().names.channel, '0');
    await isGranted(waiting);
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
}

/** Tokens that grow with every grant. */
export function fencedLockSuite({ it, test, stage }: OnRedis): void {
  it('gives every grant the next token, however it was requested (Redisson: RedissonFencedLockTest testTokenIncrease)', async () => {
    const { mine, theirs, key } = stage();
    const [fenced, plain] = [mine.mutex(key, { fenced: true }), theirs.mutex(key)];
    const grants = [
      () => fenced.acquire(),
      () => fenced.acquire({ lease: 10_000 }),
      () => plain.acquire(),
      () => fenced.tryAcquire(),
      () => fenced.acquire({ wait: 1_000, lease: 10_000 }),
    ];
    const tokens: bigint[] = [];
    for (const grant of grants) {
      await using lease = await grant();
      tokens.push(await lease!.fencingToken());
    }
    expect(tokens).toEqual([1n, 2n, 3n, 4n, 5n]);
  });

  test('counts in a key that does not expire and is kept', async () => {
    const { mine, key } = stage();
    const { token } = stage().names;
    for (const count of ['1', '2']) {
      const lease = await mine.mutex(key, { fenced: true }).acquire();
      expect(await stage().keys()).toEqual([key, token]);
      expect(Object.keys(await stage().fields(key)).sort()).toEqual(
        [lease.holder, 'nestjs-interlock'].sort(),
      );
      expect(await stage().command('GET', token)).toBe(count);
      expect(await stage().command('PTTL', token)).toBe(-1);
      await lease.release();
    }
    expect(await stage().keys()).toEqual([token]);
    await mine.mutex(key).forceUnlock();
    expect(await stage().command('GET', token)).toBe('2');
  });

  it('shows its token in the activity of its client; a lock that is not fenced does so once the token was requested', async () => {
    const { mine, key } = stage();
    const tokens = () => mine.activity().map(({ fencingToken }) => fencingToken);
    await mine.mutex(key, { fenced: true }).using(() => expect(tokens()).toEqual([1n]));
    await mine.mutex(key).using(async (lease) => {
      expect(tokens()).toEqual([undefined]);
      await lease.fencingToken();
      expect(tokens()).toEqual([2n]);
    });
  });

  it('has its token from the grant, and sends no further command', async () => {
    const { mine, key } = stage();
    await using lease = await mine.mutex(key, { fenced: true }).acquire();
    await stage().command('SET', stage().names.token, 1_000); // another client was granted the lock by a server that had lost our lease
    expect(await lease.fencingToken()).toBe(1n);
    await stage().command('DEL', key);
    expect(await lease.fencingToken()).toBe(1n);
  });

  it('uses up no token for attempts that are not granted', async () => {
    const { mine, theirs, key } = stage();
    const lease = await mine.mutex(key, { fenced: true }).acquire();
    for (let time = 0; time < 3; time++)
      expect(await theirs.mutex(key, { fenced: true }).tryAcquire()).toBeUndefined();
    await lease.release();
    await using next = await theirs.mutex(key, { fenced: true }).acquire();
    expect(await next.fencingToken()).toBe(2n);
  });

  it('counts a token of a plain mutex only when it is requested, and once', async () => {
    const { mine, key } = stage();
    await (await mine.mutex(key).acquire()).release();
    expect(await stage().keys()).toEqual([]);
    const lease = await mine.mutex(key).acquire();
    const [token, again] = await Promise.all([lease.fencingToken(), lease.fencingToken()]);
    expect([token, again, await lease.fencingToken()]).toEqual([1n, 1n, 1n]);
    await lease.release();
  });

  it('rejects a token of a plain mutex once another client may have a greater one', async () => {
    const { mine, theirs, key } = stage();
    const lease = await mine.mutex(key).acquire();
    await stage().command('DEL', key);
    await using next = await theirs.mutex(key).acquire();
    expect(await next.fencingToken()).toBe(1n);
    await expect(lease.fencingToken()).rejects.toBeInstanceOf(LockLostError);
    expectLost(lease);
    expect(await stage().command('GET', stage().names.token)).toBe('1');
    await lease.release();
  });
}
