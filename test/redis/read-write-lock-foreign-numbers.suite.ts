import { expect, it } from '@jest/globals';
import { commandCalls } from './command-calls.js';
import type { RedisStage } from './redis-stage.js';

const STRANGER = '00000000-0000-0000-0000-000000000000:1';
/** More holds than any client has. */
const ABSURD = 100_000;
/** In ms. */
const REST = 60_000;

/** A foreign hash: what it claims about the holds of others costs the server nothing. */
export function readWriteLockForeignNumbersSuite(stage: () => RedisStage): void {
  it('does not look for as many keys as a number claims when a reader leaves', async () => {
    const { mine, key } = stage();
    await stage().command('HSET', key, 'mode', 'read', STRANGER, ABSURD);
    await stage().command('PEXPIRE', key, REST);
    const lease = await mine.readWriteLock(key).readLock().acquire();
    await stage().command('CONFIG', 'RESETSTAT');
    await lease.release();
    expect(await commandCalls(stage(), 'pttl')).toBeLessThan(20);
    expect(await stage().fields(key)).toEqual({ mode: 'read', [STRANGER]: String(ABSURD) });
    const left = Number(await stage().command('PTTL', key));
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(REST);
    await stage().command('DEL', key);
  });

  it('does not look for as many keys as a number claims when the writer leaves', async () => {
    const { mine, key } = stage();
    const lease = await mine.readWriteLock(key).writeLock().acquire();
    await stage().command('HSET', key, STRANGER, ABSURD);
    await stage().command('CONFIG', 'RESETSTAT');
    await lease.release();
    expect(await commandCalls(stage(), 'pttl')).toBeLessThan(20);
    expect(await stage().fields(key)).toEqual({ mode: 'read', [STRANGER]: String(ABSURD) });
    expect(await stage().command('PTTL', key)).toBeGreaterThan(0);
    await stage().command('DEL', key);
  });

  it('looks for the keys of a reader that has re-entered again and again', async () => {
    const { mine, names, key } = stage();
    const lease = await mine.readWriteLock(key).readLock().acquire({ lease: 5_000 });
    await stage().command('HSET', key, STRANGER, 500);
    await stage().command('SET', names.readHold(STRANGER, 500), 1, 'PX', REST);
    await lease.release();
    expect(await stage().command('PTTL', key)).toBeGreaterThan(REST - 30_000);
    await stage().command('DEL', key, names.readHold(STRANGER, 500));
  });
}
