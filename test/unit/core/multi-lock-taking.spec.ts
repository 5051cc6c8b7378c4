import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  LockAbortedError,
  LockOptionsError,
  LockTimeoutError,
} from '../../../lib/core/errors/index.js';
import { MultiLock } from '../../../lib/core/multi-lock.js';
import { Deferred } from '../../support/deferred.js';
import { VirtualClock } from '../../support/virtual-clock.js';
import { Part } from './multi-lock-part.js';

describe('A multi-lock', () => {
  let clock: VirtualClock;
  let story: string[];
  let parts: Part[];
  let multi: MultiLock;

  beforeEach(() => {
    clock = new VirtualClock();
    story = [];
    parts = ['a', 'b', 'c'].map((key) => new Part(key, story));
    multi = new MultiLock(parts.toReversed(), { clock });
  });

  it('takes its parts one after the other, and releases them in the reverse order', async () => {
    const turn = new Deferred();
    parts[1]!.turn = () => turn.promise;
    const taking = multi.acquire();
    await clock.advance(1_000);
    expect(story).toEqual(['hold a']);
    turn.resolve();
    const lease = await taking;
    await lease.release();
    await lease.release();
    expect(story).toEqual(['hold a', 'hold b', 'hold c', 'release c', 'release b', 'release a']);
  });

  it.each(['acquire', 'tryAcquire'] as const)(
    '%s passes each part the time that is left',
    async (how) => {
      for (const part of parts) part.turn = () => clock.advance(300);
      await multi[how]({ wait: 1_000 });
      expect(parts.map(({ asked }) => asked[0]!.wait)).toEqual([1_000, 700, 400]);
    },
  );

  it('asks no further part when the time is up, and says how long it had, not what was left', async () => {
    for (const part of parts) part.turn = () => clock.advance(500);
    const late = multi.acquire({ wait: 1_000 });
    await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
    await expect(late).rejects.toMatchObject({ waitedMs: 1_000, key: 'a + b + c' });
    expect(parts.map(({ asked }) => asked.length)).toEqual([1, 1, 0]);
    expect(story).toEqual(['hold a', 'hold b', 'release b', 'release a']);
  });

  it('says so too when it is a part that has run out of time', async () => {
    const cause = new LockTimeoutError(400, { key: 'b' });
    parts[1]!.turn = async () => Promise.reject(cause);
    await expect(multi.acquire({ wait: 1_000 })).rejects.toMatchObject({
      code: 'LOCK_TIMEOUT',
      waitedMs: 1_000,
      key: 'a + b + c',
      cause,
      message:
        'lock "a + b + c" was not granted within 1000 ms (it waited for lock "b"). Retry later, raise `wait`, or hold the lock for a shorter time.',
    });
  });

  it('waits as long as it was made to, where an acquire names no time', async () => {
    await new MultiLock(parts, { clock, wait: 70 }).acquire();
    await multi.acquire({ wait: undefined });
    expect(parts[0]!.asked).toMatchObject([{ wait: 70 }, { wait: 'forever' }]);
  });

  it('stops at the first part that fails, and releases the others (Curator: testSomeLocksFailToLock)', async () => {
    const error = new Error('no connection');
    parts[1]!.turn = async () => Promise.reject(error);
    await expect(multi.acquire()).rejects.toBe(error);
    expect(story).toEqual(['hold a', 'release a']);
    expect(parts[2]!.asked).toEqual([]);
  });

  it('stops at the first part that tryAcquire finds taken, and comes back when nothing is left', async () => {
    parts[2]!.isTaken = true;
    const freed = new Deferred();
    parts[0]!.freeing = () => freed.promise;
    let isBack = false;
    const trying = multi.tryAcquire().then((lease) => ((isBack = true), lease));
    await clock.advance(1_000);
    expect(story).toEqual(['hold a', 'hold b', 'release b', 'release a']);
    expect(isBack).toBe(false);
    freed.resolve();
    expect(await trying).toBeUndefined();
  });

  it('releases what it holds when the signal aborts the wait for the next part', async () => {
    const stop = new AbortController();
    parts[2]!.turn = ({ signal }) =>
      new Promise((_, reject) =>
        signal!.addEventListener('abort', () => reject(new LockAbortedError({ key: 'c' }))),
      );
    const taking = multi.acquire({ signal: stop.signal });
    await clock.advance(1_000);
    expect(story).toEqual(['hold a', 'hold b']);
    stop.abort();
    await expect(taking).rejects.toBeInstanceOf(LockAbortedError);
    expect(story).toEqual(['hold a', 'hold b', 'release b', 'release a']);
  });

  it('releases all of them though some cannot be released (Curator: testSomeReleasesFail)', async () => {
    for (const part of parts.slice(1)) part.freeing = async () => Promise.reject(new Error('no'));
    const lease = await multi.acquire();
    await lease.release();
    expect(story.slice(3)).toEqual(['release c', 'release b', 'release a']);
  });

  it('fails with the error of the part that failed, though another cannot be released', async () => {
    const error = new Error('no connection');
    parts[0]!.freeing = async () => Promise.reject(new Error('no'));
    parts[2]!.turn = async () => Promise.reject(error);
    await expect(multi.acquire()).rejects.toBe(error);
    expect(story).toEqual(['hold a', 'hold b', 'release b', 'release a']);
  });

  it('begins again when a part was lost while it waited for another', async () => {
    const [first, second] = parts;
    second!.turn = async () => {
      if (first!.grants.length === 1) first!.grants[0]!.hold.markLost('its session ended');
    };
    const lease = await multi.acquire();
    expect(lease.isHeld).toBe(true);
    expect(story.filter((line) => line === 'hold a')).toHaveLength(2);
    await lease.release();
    for (const { grants } of parts) for (const { hold } of grants) expect(hold.isLive).toBe(false);
    expect(story.filter((line) => line.startsWith('release'))).toHaveLength(6);
  });

  it.each([{ wait: 0 }, { wait: -1 }, { wait: NaN }, { wait: Infinity }])(
    'refuses %p before a part is asked',
    async (options) => {
      await expect(multi.acquire(options)).rejects.toBeInstanceOf(LockOptionsError);
      await expect(multi.tryAcquire(options)).rejects.toBeInstanceOf(LockOptionsError);
      expect(() => new MultiLock(parts, options)).toThrow(LockOptionsError);
      expect(parts.flatMap(({ asked }) => asked)).toEqual([]);
    },
  );
});
