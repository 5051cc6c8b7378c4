import { describe, expect, it } from '@jest/globals';
import { LockKeyError, LockOptionsError } from '../../lib/core/errors/index.js';
import type { LeaderOptions } from '../../lib/core/election/election-backend.js';
import type { Client } from './client.js';
import { LeaderLatchStage } from './leader-latch-stage.js';
import type { Stage } from './stage.js';

/** Bad input, at the earliest moment. */
export function leaderLatchInputSuite(stage: () => Stage): void {
  const latches = new LeaderLatchStage(stage);

  it.each([
    ['empty', ''],
    ['too long', 'x'.repeat(513)],
    ['not Unicode', '\ud800'],
    ['with a NUL', 'a\0b'],
    ['a path with a slash at its end', '/a/'],
    ['a path with an empty part', '/a//b'],
    ['a path that leads up', '/a/../b'],
    ['no text', 5 as unknown as string],
  ])('a key that is %s (Curator: testRelativePath)', (_, key) => {
    expect(() => stage().mine.locks.leaderLatch(key)).toThrow(LockKeyError);
  });

  it.each([
    ['a number', 5],
    ['null', null],
    ['an object', {}],
    ['too long', 'x'.repeat(1_000_001)],
    ['too long in UTF-8', '€'.repeat(333_334)],
  ])('an id that is %s', (_, id) => {
    const make = () => latches.of(stage().mine, { id } as LeaderOptions);
    expect(make).toThrow(LockOptionsError);
    expect(make).toThrow(/`id`.+1,000,000 bytes/);
  });

  it.each(['Session', 'none', '', null, 1, true])('the error policy %j', (errorPolicy) => {
    const make = () => latches.of(stage().mine, { errorPolicy } as LeaderOptions);
    expect(make).toThrow(LockOptionsError);
    expect(make).toThrow(/'standard' or 'session'/);
  });

  it.each([{ wait: 0 }, { wait: -1 }, { wait: NaN }, { wait: '5' }, { signal: {} }])(
    'to wait like %j, and goes on',
    async (options) => {
      const latch = await latches.leading(stage().mine);
      const waiting = latch.awaitLeadership(options as never);
      await expect(waiting).rejects.toBeInstanceOf(LockOptionsError);
      expect(latch.hasLeadership).toBe(true);
    },
  );

  describe.each<[string, (client: Client, key: string) => unknown]>([
    ['mutex', ({ locks }, key) => locks.mutex(key)],
    ['read/write lock', ({ locks }, key) => locks.readWriteLock(key)],
    ['semaphore', ({ locks }, key) => locks.semaphore(key, { permits: 1 })],
    ['shared count', ({ locks }, key) => locks.sharedCount(key, 0)],
    ['leader selector', ({ locks }, key) => locks.leaderSelector(key, () => {})],
  ])('to be of one key with a %s', (_, make) => {
    it('whichever came first', () => {
      const { mine, theirs, key } = stage();
      make(mine, key);
      expect(() => latches.of(mine)).toThrow(LockKeyError);
      latches.of(theirs);
      expect(() => make(theirs, key)).toThrow(LockKeyError);
      latches.of(theirs);
    });
  });

  it('nothing that is at the edge: ids of 1,000,000 bytes are shown as they are', async () => {
    const id = `${'€'.repeat(333_333)}x`;
    const latch = await latches.leading(stage().mine, { id });
    expect(await latch.leader()).toEqual({ id, isLeader: true });
  });
}
