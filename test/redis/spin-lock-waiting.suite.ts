import { expect, it } from '@jest/globals';
import {
  LockAbortedError,
  LockClientClosedError,
  LockTimeoutError,
} from '../../lib/core/errors/index.js';
import type { RedisStage } from './redis-stage.js';
import { earliest } from '../support/earliest.js';

/** How clients wait for a spin lock, and what ends a wait. */
export function spinLockWaitingSuite(stage: () => RedisStage): void {
  it('is waited for as long as requested (Redisson: RedissonSpinLockTest testTryLockWait)', async () => {
    const { mine, theirs, key } = stage();
    await using _ = await mine.spinLock(key).acquire();
    const startedAt = performance.now();
    const late = theirs.spinLock(key).acquire({ wait: 300 });
    await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
    const waited = performance.now() - startedAt;
    expect(waited).toBeGreaterThanOrEqual(earliest(300));
    expect(waited).toBeLessThan(2_000);
  });

  it('goes to a waiter at the end of a lease, and not back (Redisson: RedissonSpinLockTest testExpire)', async () => {
    const { mine, theirs, key } = stage();
    const lease = await theirs.spinLock(key).acquire({ lease: 500 });
    const startedAt = performance.now();
    await using next = await mine.spinLock(key).acquire({ wait: 5_000 });
    expect(performance.now() - startedAt).toBeLessThan(2_500);
    expect([lease.isHeld, lease.signal.aborted]).toEqual([false, true]);
    await lease.release();
    expect((await mine.spinLock(key).holders()).map(({ id }) => id)).toEqual([next.holder]);
  });

  it('is free one watchdogTimeout after its holder has died (Redisson: RedissonSpinLockTest testAutoExpire)', async () => {
    const { mine, key } = stage();
    const connection = stage().connection();
    const dying = await stage().client({ client: connection, watchdogTimeout: 400 });
    const lease = await dying.spinLock(key).acquire();
    connection.disconnect();
    await using next = await mine.spinLock(key).acquire({ wait: 5_000 });
    expect([next.isHeld, lease.isHeld]).toEqual([true, false]);
  });

  it('is renewed for as long as it is held', async () => {
    const { mine, key } = stage();
    const client = await stage().client({ watchdogTimeout: 900 });
    await using lease = await client.spinLock(key).acquire();
    await expect(mine.spinLock(key).acquire({ wait: 2_700 })).rejects.toThrow(LockTimeoutError);
    expect(lease.isHeld).toBe(true);
  });

  it('is waited for in spite of another acquire that is aborted (Redisson: RedissonSpinLockTest testLockUninterruptibly)', async () => {
    const { mine, theirs, key } = stage();
    const held = await mine.spinLock(key).acquire();
    const abort = new AbortController();
    const spin = theirs.spinLock(key);
    const impatient = await stage().queue(theirs, spin, { signal: abort.signal });
    const patient = await stage().queue(theirs, spin);
    abort.abort(new Error('enough'));
    await expect(impatient.lease).rejects.toBeInstanceOf(LockAbortedError);

    await held.release();
    await using next = await patient.lease;
    expect(next.isHeld).toBe(true);
  });

  it('is requested without blocking, and granted soon after the release (Redisson: RedissonSpinLockTest testTryLockAsync)', async () => {
    const { mine, theirs, key } = stage();
    const held = await mine.spinLock(key).acquire();
    const { lease: waiting } = await stage().queue(theirs, theirs.spinLock(key));
    await held.release();
    const releasedAt = performance.now();
    await using next = await waiting;
    expect(next.isHeld).toBe(true);
    expect(performance.now() - releasedAt).toBeLessThan(1_200); // Redisson allows 200 ms; here the machine may stall
  });

  it('is granted to a waiter with a bounded wait, before its end (Redisson: RedissonSpinLockTest testTimedTryLockAsync)', async () => {
    const { mine, theirs, key } = stage();
    const held = await mine.spinLock(key).acquire();
    const options = { wait: 10_000, lease: 60_000 };
    const { lease: waiting } = await stage().queue(theirs, theirs.spinLock(key), options);
    await held.release();
    await using next = await waiting;
    expect(next.remaining()).toBeGreaterThan(50_000);
  });

  it('is not granted, and not held, where the wait ends first (Redisson: RedissonSpinLockTest testTryLockAsyncWaitTime)', async () => {
    const { mine, theirs, key } = stage();
    const held = await mine.spinLock(key).acquire();
    const { lease: late } = await stage().queue(theirs, theirs.spinLock(key), { wait: 200 });
    await expect(late).rejects.toMatchObject({ code: 'LOCK_TIMEOUT', waitedMs: 200, key });
    await held.release();
    expect(await stage().keys()).toEqual([]);
  });

  it('is denied to a single attempt while it is held (Redisson: RedissonSpinLockTest testTryLockAsyncFailed)', async () => {
    const { mine, theirs, key } = stage();
    await using _ = await mine.spinLock(key).acquire();
    expect(await theirs.spinLock(key).tryAcquire()).toBeUndefined();
  });

  it('is granted to a single attempt where it is free (Redisson: RedissonSpinLockTest testTryLockAsyncSucceed)', async () => {
    const { mine, theirs, key } = stage();
    await using lease = await mine.spinLock(key).tryAcquire();
    expect(lease?.isHeld).toBe(true);
    expect(await theirs.spinLock(key).tryAcquire()).toBeUndefined();
  });

  it('is not held by a caller that aborts during its acquire', async () => {
    const { mine, theirs, key } = stage();
    for (let turns = 0; turns < 10; turns++) {
      const abort = new AbortController();
      const acquired = mine.spinLock(key).acquire({ signal: abort.signal });
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      abort.abort(new Error('never mind'));
      await expect(acquired).rejects.toBeInstanceOf(LockAbortedError);
    }
    await using next = await theirs.spinLock(key).acquire({ wait: 10_000 });
    expect(next.isHeld).toBe(true);
  });

  it('is not polled any more once the acquire is aborted, or its client closes', async () => {
    const { mine, theirs, key } = stage();
    await using _ = await mine.spinLock(key).acquire();
    const abort = new AbortController();
    const options = { signal: abort.signal };
    const aborted = await stage().queue(theirs, theirs.spinLock(key), options);
    abort.abort();
    await expect(aborted.lease).rejects.toBeInstanceOf(LockAbortedError);
    const closed = await stage().queue(theirs, theirs.spinLock(key));
    await theirs.close();
    await expect(closed.lease).rejects.toBeInstanceOf(LockClientClosedError);

    const log = await stage().log();
    const other = await stage().client();
    await expect(other.spinLock(key).acquire({ wait: 300 })).rejects.toThrow(LockTimeoutError);
    const sent = await log.commands('"evalsha"');
    const owners = sent.map((line) => /"([0-9a-f-]{36}):\d+"/.exec(line)?.[1]).filter(Boolean);
    expect(new Set(owners).size).toBe(1); // only the other client
  });
}
