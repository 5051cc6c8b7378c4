import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  LockAbortedError,
  LockClientClosedError,
  LockTimeoutError,
} from '../../../lib/core/errors/index.js';
import { OrderedSet } from '../../../lib/core/collections/ordered-set.js';
import { SwapRemoveSet } from '../../../lib/core/collections/swap-remove-set.js';
import { WaitScope } from '../../../lib/core/internal/wait-scope.js';
import type { AcquireOptions } from '../../../lib/core/lock.js';
import { Deferred, VirtualClock } from '../../support/time.js';

describe('A wait', () => {
  let clock: VirtualClock;
  let open: OrderedSet<WaitScope>;

  beforeEach(() => {
    clock = new VirtualClock();
    open = new OrderedSet();
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

  it('ends all that waits within it, whichever has settled before', async () => {
    const wait = begin({ wait: 100 });
    const news = new Deferred<string>();
    const first = wait.until(news.promise);
    const second = wait.until(new Promise(() => {}));
    news.resolve('news');
    expect(await first).toBe('news');
    const all = [second, wait.until(new Promise(() => {})), wait.until(new Promise(() => {}))];
    const ends = all.map((each) => expect(each).rejects.toBeInstanceOf(LockTimeoutError));
    await Promise.all([...ends, clock.advance(100)]);
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

  it('has ended when its client accepts nothing more, before that has closed it', async () => {
    const owner: { accepts: 'all' | 'nested' | 'none' } = { accepts: 'nested' };
    const wait = new WaitScope({ key: 'door', client: 'unit', clock, open, owner }, {});
    expect(wait.isOver).toBe(false);
    wait.throwIfEnded();
    owner.accepts = 'none';
    expect(wait.isOver).toBe(true);
    expect(() => wait.throwIfEnded()).toThrow(LockClientClosedError);
    await expect(wait.until(Promise.resolve())).rejects.toBeInstanceOf(LockClientClosedError);
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

describe.each([SwapRemoveSet, OrderedSet])('%p', (Bag) => {
  it('has what was put in and not taken out', () => {
    const bag = new Bag<string>();
    const takeA = bag.add('a');
    bag.add('b');
    const takeC = bag.add('c');
    takeA();
    expect([...bag].sort()).toEqual(['b', 'c']);
    takeC();
    expect([...bag]).toEqual(['b']);
    expect(bag.size).toBe(1);
  });

  it('takes nothing else out when asked twice', () => {
    const bag = new Bag<string>();
    const takeA = bag.add('a');
    bag.add('b');
    takeA();
    takeA();
    expect([...bag]).toEqual(['b']);
  });

  it('goes over what was in it at the start', () => {
    const bag = new Bag<() => void>();
    const seen: string[] = [];
    const takes = ['a', 'b', 'c'].map((name) =>
      bag.add(() => {
        seen.push(name);
        takes.forEach((take) => take());
      }),
    );
    for (const see of bag) see();
    expect(seen).toEqual(['a', 'b', 'c']);
    expect(bag.size).toBe(0);
  });

  it('agrees with a Set, whatever comes and goes', () => {
    const bag = new Bag<number>();
    const set = new Set<number>();
    const takes = new Map<number, () => void>();
    for (let i = 0; i < 1_000; i++) {
      const n = (i * 7919) % 31;
      if (set.delete(n)) takes.get(n)!();
      else {
        set.add(n);
        takes.set(n, bag.add(n));
      }
      expect([...bag].sort()).toEqual([...set].sort());
    }
  });
});

describe('OrderedSet', () => {
  it('has the order of additions, whatever comes and goes', () => {
    const bag = new OrderedSet<number>();
    const set = new Set<number>();
    const takes = new Map<number, () => void>();
    for (let i = 0; i < 1_000; i++) {
      const n = (i * 7919) % 31;
      if (set.delete(n)) takes.get(n)!();
      else {
        set.add(n);
        takes.set(n, bag.add(n));
      }
      takes.get((i * 31) % 31)!(); // the first one, mostly for the second time
      set.delete((i * 31) % 31);
      expect([...bag]).toEqual([...set]);
      expect(bag.oldest(3)).toEqual([...set].slice(0, 3));
      expect(bag.size).toBe(set.size);
    }
  });
});
