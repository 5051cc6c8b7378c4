import { deepEqual, equal, ok, rejects, throws } from 'node:assert/strict';
import { performance } from 'node:perf_hooks';
import {
  LockAbortedError,
  LockNotHeldError,
  LockOptionsError,
  LockTimeoutError,
} from '../../core/errors/index.js';
import type { ContractRunner, ContractStage } from './contract-stage.js';

/** The lease, which is the handle of the holder. */
export function mutexLeaseContract({ it }: ContractRunner, stage: () => ContractStage): void {
  it('that has its key, and reports whether it is held', async () => {
    const { mine, key } = stage();
    const lease = await stage().take(mine.mutex(key));
    const { signal } = lease;
    deepEqual([lease.key, lease.isHeld], [key, true]);
    lease.assertHeld();
    await lease.release();
    equal(lease.isHeld, false);
    throws(() => lease.assertHeld(), LockNotHeldError);
    await rejects(
      lease.run(() => 'never'),
      LockNotHeldError,
    );
    equal(signal.aborted, false, 'a release is no loss');
  });

  it('that is released once: a second release takes nothing from the next holder', async () => {
    const { mine, key } = stage();
    const first = await stage().take(mine.mutex(key));
    await Promise.all([first.release(), first.release()]);
    const second = await stage().take(mine.mutex(key));
    await first.release();
    equal(second.isHeld, true);
    equal(await mine.mutex(key).tryAcquire(), undefined);
  });

  it('that `await using` releases', async () => {
    const { mine, key } = stage();
    const lease = await stage().take(mine.mutex(key));
    await lease[Symbol.asyncDispose]();
    equal(lease.isHeld, false);
    await (await stage().take(mine.mutex(key))).release();
  });

  it('with a fencing token that grows from grant to grant', async () => {
    const { mine, key } = stage();
    const tokens: bigint[] = [];
    for (let grant = 0; grant < 3; grant++) {
      const lease = await stage().take(mine.mutex(key));
      tokens.push(await lease.fencingToken());
      await lease.release();
    }
    const [first = 0n, second = 0n, third = 0n] = tokens;
    ok(first < second && second < third, `tokens do not grow: ${tokens.join(', ')}`);
  });

  it('for as long as `using` runs, which settles like its function', async () => {
    const { mine, key } = stage();
    const mutex = mine.mutex(key);
    equal(await mutex.using((lease) => Promise.resolve(lease.isHeld && 'done')), 'done');
    const failure = new Error('of the user');
    const failing = mutex.using(() => Promise.reject(failure));
    await rejects(failing, (error) => error === failure);
    await (await stage().take(mutex)).release();
  });
}

/** Deadlines, signals and single attempts, none of which leave anything behind. */
export function mutexWaitContract({ it }: ContractRunner, stage: () => ContractStage): void {
  it('until its `wait` is over: LockTimeoutError, not before its time', async () => {
    const { mine, key } = stage();
    const holder = await stage().take(mine.mutex(key));
    const start = performance.now();
    const end = rejects(mine.mutex(key).acquire({ wait: 50 }), (error) => {
      ok(error instanceof LockTimeoutError);
      equal(error.key, key);
      equal(error.waitedMs, 50);
      return true;
    });
    await stage().soon('the wait ends', end);
    ok(performance.now() - start >= 49, 'the wait ended before its time');
    equal(holder.isHeld, true);
    await holder.release();
    await (await stage().take(mine.mutex(key))).release(); // the waiter has left nothing behind
  });

  it('by the waiters behind one that gives up', async () => {
    const { mine, key } = stage();
    const holder = await stage().take(mine.mutex(key));
    const stop = new AbortController();
    const { lease: hasty } = await stage().queue(mine, mine.mutex(key), { signal: stop.signal });
    const { lease: patient } = await stage().queue(mine, mine.mutex(key));
    stop.abort();
    await stage().soon('one gives up', rejects(hasty, LockAbortedError));
    await holder.release();
    const next = await stage().soon('the one behind is granted it', patient);
    equal(next.isHeld, true);
  });

  it('until its signal aborts: LockAbortedError with the reason', async () => {
    const { mine, key } = stage();
    const holder = await stage().take(mine.mutex(key));
    const stop = new AbortController();
    const { lease } = await stage().queue(mine, mine.mutex(key), { signal: stop.signal });
    const why = new Error('the user went away');
    stop.abort(why);
    const end = rejects(lease, (error) => {
      ok(error instanceof LockAbortedError);
      equal(error.cause, why);
      return true;
    });
    await stage().soon('the wait ends', end);
    await holder.release();
    await (await stage().take(mine.mutex(key))).release();
  });

  it('not at all with a signal that is already aborted', async () => {
    const { mine, key } = stage();
    const acquire = mine.mutex(key).acquire({ signal: AbortSignal.abort() });
    await stage().soon('it is refused', rejects(acquire, LockAbortedError));
    await (await stage().take(mine.mutex(key))).release();
  });

  it('not by tryAcquire, which acquires it or returns at once', async () => {
    const { mine, key } = stage();
    const mutex = mine.mutex(key);
    const lease = await stage().soon('an attempt ends', mutex.tryAcquire());
    equal(lease?.isHeld, true);
    equal(await stage().soon('an attempt ends', mutex.tryAcquire()), undefined);
    await lease.release();
    await (await stage().take(mutex)).release();
  });

  for (const wait of [0, -1, NaN, Infinity])
    it(`not for ${wait} ms: LockOptionsError`, async () => {
      const { mine, key } = stage();
      await rejects(mine.mutex(key).acquire({ wait }), LockOptionsError);
      await rejects(mine.mutex(key).tryAcquire({ wait }), LockOptionsError);
    });
}
