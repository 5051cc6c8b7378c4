import { equal, ok, rejects } from 'node:assert/strict';
import { performance } from 'node:perf_hooks';
import { LockAbortedError, LockOptionsError, LockTimeoutError } from '../../core/errors/index.js';
import type { ContractRunner } from './contract-runner.js';
import type { ContractStage } from './contract-stage.js';

/** Deadlines, signals and single attempts, none of which leaves anything behind. */
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
    await (await stage().take(mine.mutex(key))).release(); // nothing of the waiter is in the way
  });

  it('by those behind one that gives up', async () => {
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

  it('not at all with a signal that has aborted before', async () => {
    const { mine, key } = stage();
    const acquire = mine.mutex(key).acquire({ signal: AbortSignal.abort() });
    await stage().soon('it is refused', rejects(acquire, LockAbortedError));
    await (await stage().take(mine.mutex(key))).release();
  });

  it('not by tryAcquire, which has it or leaves', async () => {
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
