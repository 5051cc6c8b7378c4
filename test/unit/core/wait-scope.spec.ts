import { beforeEach, describe, expect, it } from '@jest/globals';
import type { AcquireOptions } from '../../../lib/core/lock.js';
import { SwapRemoveSet } from '../../../lib/core/internal/swap-remove-set.js';
import {
  LockAbortedError,
  LockClientClosedError,
  LockTimeoutError,
} from '../../../lib/core/errors/index.js';
import { WaitScope } from '../../../lib/core/internal/wait-scope.js';
import { Deferred } from '../../support/deferred.js';
import { VirtualClock } from '../../support/virtual-clock.js';

describe('A wait', () => {
  let clock: VirtualClock;
  let open: SwapRemoveSet<WaitScope>;

  beforeEach(() => {
    clock = new VirtualClock();
    open = new SwapRemoveSet();
  });

  const begin = (options: AcquireOptions = {}) =>
    new WaitScope({ key: 'door', client: 'unit', clock, open }, options);

  it('settles as what it waited for does', async () => {
    const wait = begin({ wait: 100 });
    expect(await wait.until(Promise.resolve('news'))).toBe('news');
    const error = new Error('bad news');
    await expect(wait.until(Promise.reject(error))).rejects.toBe(error);
  });

  it('ends at its deadline, which counts from its beginning', async () => {
    const wait = begin({ wait: 100 });
    await clock.advance(60);
    expect(wait.elapsed).toBe(60);
    const never = wait.until(new Promise(() => {}));
    await Promise.all([expect(never).rejects.toBeInstanceOf(LockTimeoutError), clock.advance(40)]);
    await expect(never).rejects.toMatchObject({ waitedMs: 100, key: 'door', client: 'unit' });
  });

  it('does not end by itself when it is for ever', async () => {
    begin({ wait: 'forever' });
    begin();
    expect(clock.isIdle).toBe(true);
  });

  it('ends when its signal aborts, with the reason as cause', async () => {
    const stop = new AbortController();
    const wait = begin({ signal: stop.signal });
    const never = wait.until(new Promise(() => {}));
    stop.abort('enough');
    await expect(never).rejects.toBeInstanceOf(LockAbortedError);
    await expect(never).rejects.toMatchObject({ cause: 'enough', key: 'door' });
  });

  it('has ended before it began when its signal has aborted', async () => {
    const wait = begin({ signal: AbortSignal.abort('enough') });
    expect(() => wait.throwIfEnded()).toThrow(LockAbortedError);
    await expect(wait.until(Promise.resolve())).rejects.toBeInstanceOf(LockAbortedError);
  });

  it('ends when its client closes', async () => {
    const wait = begin();
    const never = wait.until(new Promise(() => {}));
    for (const each of open) each.close();
    await expect(never).rejects.toBeInstanceOf(LockClientClosedError);
    expect(() => wait.throwIfEnded()).toThrow(LockClientClosedError);
  });

  it('stays ended by what came first', async () => {
    const stop = new AbortController();
    const wait = begin({ wait: 100, signal: stop.signal });
    await clock.advance(100);
    stop.abort();
    wait.close();
    expect(() => wait.throwIfEnded()).toThrow(LockTimeoutError);
  });

  it('lets what it no longer waits for fail in peace', async () => {
    const wait = begin();
    const news = new Deferred();
    const never = wait.until(news.promise);
    wait.close();
    await expect(never).rejects.toBeInstanceOf(LockClientClosedError);
    news.reject(new Error('nobody listens')); // unhandled, this would end the process
    await expect(wait.until(Promise.reject(new Error('nor here')))).rejects.toBeInstanceOf(
      LockClientClosedError,
    );
    await clock.advance(0);
  });

  it('sleeps, and is woken by its end without leaving a timer', async () => {
    const wait = begin();
    const slept = wait.sleep(50);
    await clock.runUntil(slept);
    expect(clock.now()).toBe(50);
    const disturbed = wait.sleep(50);
    wait.close();
    await expect(disturbed).rejects.toBeInstanceOf(LockClientClosedError);
    expect(clock.isIdle).toBe(true);
  });

  it('lets go of timer, signal and client when it is over', async () => {
    const stop = new AbortController();
    const wait = begin({ wait: 100, signal: stop.signal });
    const ended = wait.ended();
    wait.end();
    wait.end();
    await ended;
    expect([open.size, clock.isIdle]).toEqual([0, true]);
    stop.abort();
    wait.throwIfEnded();
  });
});
