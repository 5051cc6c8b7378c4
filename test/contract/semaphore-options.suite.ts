import { describe, expect, it } from '@jest/globals';
import { LockKeyError, LockOptionsError } from '../../lib/core/errors/index.js';
import { SemaphoreStage } from './semaphore-stage.js';
import type { Stage } from './stage.js';

/** What is refused, and when. */
export function semaphoreOptionsSuite(stage: () => Stage): void {
  const semaphores = new SemaphoreStage(stage);
  const OUT_OF_RANGE = [0, -1, 1.5, NaN, Infinity, 2 ** 31, '2', null] as number[];

  it.each(OUT_OF_RANGE)('there is no semaphore of %p permits', (permits) => {
    const { mine, key } = stage();
    const make = () => mine.locks.semaphore(key, { permits });
    expect(make).toThrow(LockOptionsError);
    expect(make).toThrow(expect.objectContaining({ option: 'permits', key, client: 'contract' }));
  });

  it.each([...OUT_OF_RANGE, 4])(
    'an acquire of %p permits of 3 is refused before anything is sent',
    async (permits) => {
      const { mine, key } = stage();
      const semaphore = semaphores.of(mine, 3);
      for (const refused of [
        semaphore.acquire({ permits }),
        semaphore.tryAcquire({ permits }),
        semaphore.using(async () => {}, { permits }),
      ]) {
        await expect(refused).rejects.toBeInstanceOf(LockOptionsError);
        await expect(refused).rejects.toMatchObject({ option: 'permits', key, client: 'contract' });
      }
      expect(mine.requests).toEqual([]);
    },
  );

  it.each([{ wait: 0 }, { wait: -1 }, { wait: NaN }, { wait: Infinity }])(
    'so is one with %p',
    async (options) => {
      const { mine } = stage();
      const semaphore = semaphores.of(mine, 3);
      await expect(semaphore.acquire(options)).rejects.toMatchObject({ option: 'wait' });
      await expect(semaphore.tryAcquire(options)).rejects.toMatchObject({ option: 'wait' });
      expect(mine.requests).toEqual([]);
    },
  );

  it('all objects of one semaphore have the same permits', async () => {
    const { mine, theirs, key, path } = stage();
    await using _ = await semaphores.of(mine, 2).acquire();
    await using again = await semaphores.of(mine, 2).tryAcquire();
    expect(again?.isHeld).toBe(true);
    expect(() => semaphores.of(mine, 3)).toThrow(LockOptionsError);
    expect(() => mine.locks.semaphore(path, { permits: 1 })).toThrow(LockOptionsError);
    expect(() => mine.locks.semaphore(`${key}!`, { permits: 1 })).not.toThrow();
    expect(() => semaphores.of(theirs, 3)).not.toThrow(); // another process may be a version ahead
  });

  it.each([
    ['mutex', () => stage().mine.locks.mutex(stage().key)],
    ['semaphore mutex', () => stage().mine.locks.semaphoreMutex(stage().key)],
    ['read/write lock', () => stage().mine.locks.readWriteLock(stage().key)],
    ['semaphore', () => semaphores.of(stage().mine, 1)],
  ])('a %s and locks of other kinds are not had on one path', (kind, make) => {
    const { mine, path } = stage();
    make();
    const others = {
      mutex: () => mine.locks.mutex(path),
      'semaphore mutex': () => mine.locks.semaphoreMutex(path),
      'read/write lock': () => mine.locks.readWriteLock(path),
      semaphore: () => mine.locks.semaphore(path, { permits: 1 }),
    };
    for (const [other, makeOther] of Object.entries(others)) {
      if (other === kind) expect(makeOther).not.toThrow();
      else expect(makeOther).toThrow(LockKeyError);
    }
    expect(make).not.toThrow();
  });

  it.each(['locks', 'leases'])('no other lock is had on %j below the path of one', (directory) => {
    const { mine, path } = stage();
    semaphores.of(mine, 1);
    expect(() => mine.locks.mutex(`${path}/${directory}`)).toThrow(LockKeyError);
    expect(() => mine.locks.mutex(`${path}/others`)).not.toThrow();
  });

  describe('data', () => {
    const MOST = 1_000_000;

    it('of a megabyte is written', async () => {
      const { mine, key } = stage();
      const semaphore = mine.locks.semaphore(key, { permits: 1, data: Buffer.alloc(MOST, 7) });
      await using lease = await semaphore.acquire();
      expect(lease.isHeld).toBe(true);
      const [node] = await semaphore.participants();
      expect((await stage().stranger.getData(node!)).data).toHaveLength(MOST);
    });

    it.each([
      ['bytes', Buffer.alloc(MOST + 1)],
      ['text, in UTF-8', 'ä'.repeat(MOST / 2 + 1)],
    ])('over a megabyte of %s is refused', (_, data) => {
      const { mine, key } = stage();
      expect(() => mine.locks.semaphore(key, { permits: 1, data })).toThrow(LockOptionsError);
      expect(() => mine.locks.semaphoreMutex(key, { data })).toThrow(LockOptionsError);
    });

    it.each([7, null, {}])('%p is refused', (data) => {
      const { mine, key } = stage();
      const make = () => mine.locks.semaphore(key, { permits: 1, data: data as unknown as string });
      expect(make).toThrow(LockOptionsError);
    });
  });
}
