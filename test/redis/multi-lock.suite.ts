import { describe, expect, it } from '@jest/globals';
import { LockTimeoutError } from '../../lib/core/errors/index.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { lockAcquire } from '../../lib/redis/scripts/index.js';
import type { RedisDeploymentKind } from '../interop/support/redis-deployment.js';
import { earliest } from '../support/earliest.js';
import { eventually } from '../support/eventually.js';
import { onRedis } from './on-redis.js';

/** What a multi-lock promises on Redis beyond what it promises anywhere (`test/contract`): one script for one slot. */
export function multiLockSuite(kind: RedisDeploymentKind): void {
  describe(`A multi-lock on Redis, ${kind}`, () => {
    const stage = onRedis(kind);
    /** Keys of one slot. */
    const keys = () => ['a', 'b', 'c'].map((part) => `{${stage().key}}:${part}`);
    const multiOf = (client: RedisLockClient) =>
      client.multiLock(keys().map((key) => client.mutex(key)));

    it('is acquired with one script where all keys lie in one slot', async () => {
      const { mine } = stage();
      const log = await stage().log();
      await using lease = await multiOf(mine).acquire();
      expect(lease.isHeld).toBe(true);
      const sent = await log.commands(`"${lockAcquire.sha1}"`);
      expect(sent.length).toBe(1);
      for (const key of keys()) expect(sent[0]).toContain(`"${key}"`);
      expect(await stage().keys()).toEqual(keys());
    });

    it('is held by the same owner in each of its parts, with the whole lease at the end', async () => {
      const client = await stage().client({ watchdogTimeout: 20_000 });
      const held = await stage().theirs.mutex(keys()[2]!).acquire();
      const waiting = multiOf(client).acquire();
      await stage().listening(`redisson_lock__channel:${keys()[2]}`);
      for (const key of keys().slice(0, 2)) expect(await stage().command('EXISTS', key)).toBe(0); // all or none
      await held.release();
      await using lease = await waiting;

      const owners = await Promise.all(keys().map((key) => client.mutex(key).holders()));
      expect(new Set(owners.flat().map(({ id }) => id)).size).toBe(1);
      for (const key of keys()) expect(await stage().command('PTTL', key)).toBeGreaterThan(15_000);
      expect(lease.leases).toHaveLength(3);
    });

    it('is renewed in all of its parts', async () => {
      const client = await stage().client({ watchdogTimeout: 900 });
      const lease = await multiOf(client).acquire();
      const startedAt = performance.now();
      await eventually('three leases are over', () => performance.now() - startedAt > 2_700);
      expect(lease.isHeld).toBe(true);
      for (const key of keys()) expect(await stage().command('PTTL', key)).toBeGreaterThan(0);
      await lease.release();
    });

    it('is lost when one of its parts is lost, and releases the others', async () => {
      const client = await stage().client({ watchdogTimeout: 600 });
      const lease = await multiOf(client).acquire();
      await stage().command('DEL', keys()[1]!);
      await eventually('the signal of its holder aborts', () => lease.signal.aborted);
      expect(lease.isHeld).toBe(false);
      await lease.release();
    });

    it('wakes a waiter of one of its parts, and is woken by that part', async () => {
      const { mine, theirs } = stage();
      const lease = await multiOf(mine).acquire();
      const [part] = keys();
      const { lease: waiting } = await stage().queue(theirs, theirs.mutex(part!));
      await stage().listening(`redisson_lock__channel:${part}`);
      await lease.release();
      const single = await waiting;
      const whole = multiOf(mine).acquire({ wait: 20_000 });
      await stage().listening(`redisson_lock__channel:${part}`);
      await single.release();
      await (await whole).release();
    });

    it('has one deadline, and leaves nothing behind', async () => {
      const { mine, theirs } = stage();
      const held = await theirs.mutex(keys()[1]!).acquire();
      const startedAt = performance.now();
      const late = multiOf(mine).acquire({ wait: 400 });
      await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
      await expect(late).rejects.toMatchObject({ waitedMs: 400, key: keys().join(' + ') });
      const waited = performance.now() - startedAt;
      expect(waited).toBeGreaterThanOrEqual(earliest(400));
      expect(waited).toBeLessThan(2_000);
      expect(await stage().keys()).toEqual([keys()[1]]);
      await held.release();
    });

    it('is acquired one part after the other where its keys lie in several slots', async () => {
      const { mine, theirs, key } = stage();
      const names = Array.from({ length: 12 }, (_, n) => `${key}-${String(n).padStart(2, '0')}`);
      const multi = (client: RedisLockClient) =>
        client.multiLock(names.map((name) => client.mutex(name)));
      const lease = await multi(mine).acquire();
      expect(await stage().keys()).toEqual(names);
      expect(await multi(theirs).tryAcquire()).toBeUndefined();
      await lease.release();
      await using next = await multi(theirs).tryAcquire();
      expect(next?.isHeld).toBe(true);
    });
  });
}
