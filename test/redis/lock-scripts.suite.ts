import { describe, expect, it } from '@jest/globals';
import type { Script } from '../../lib/redis/connection/script.js';
import { lockAcquire, lockRelease, lockRenew } from '../../lib/redis/scripts/index.js';
import { eventually } from '../support/eventually.js';
import type { RedisStage } from './redis-stage.js';

const OWNER = 'b983c153-7421-469a-addb-44fb92259a1b:1';

/** The scripts: what happens when one is sent again, and when a server does not know it. */
export function lockScriptsSuite(stage: () => RedisStage): void {
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
    it('are sent in full again, and by their digest after that', async () => {
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

    it('do not end what is held, whatever command comes next', async () => {
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

    it('are sent in full again by the renewal', async () => {
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
    const publish = stage().isCluster ? 'spublish' : 'publish';
    return run(lockRelease, [key], [OWNER, publish, stage().names.channel, left]);
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
