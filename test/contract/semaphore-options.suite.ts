import { expect, it } from '@jest/globals';
import { LockKeyError, LockOptionsError } from '../../lib/core/errors/index.js';
import type { LockStage } from './lock-stage.js';
import type { SemaphoreStage } from './semaphore-stage.js';

/** What is refused, and when. */
export function semaphoreOptionsSuite(stage: () => LockStage, semaphores: SemaphoreStage): void {
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
    const { mine, theirs, key } = stage();
    const { alias } = semaphores;
    await using _ = await semaphores.of(mine, 2).acquire();
    await using again = await semaphores.of(mine, 2).tryAcquire();
    expect(again?.isHeld).toBe(true);
    expect(() => semaphores.of(mine, 3)).toThrow(LockOptionsError);
    expect(() => mine.locks.semaphore(alias, { permits: 1 })).toThrow(LockOptionsError);
    expect(() => mine.locks.semaphore(`${key}!`, { permits: 1 })).not.toThrow();
    expect(() => semaphores.of(theirs, 3)).not.toThrow(); // another process may be a version ahead
  });

  it.each([
    ['mutex', () => stage().mine.locks.mutex(stage().key)],
    ['semaphore mutex', () => stage().mine.locks.semaphoreMutex(stage().key)],
    ['read/write lock', () => stage().mine.locks.readWriteLock(stage().key)],
    ['semaphore', () => semaphores.of(stage().mine, 1)],
  ])('a %s and locks of other kinds are not had by one name', (kind, make) => {
    const { mine } = stage();
    const { alias } = semaphores;
    make();
    const others = {
      mutex: () => mine.locks.mutex(alias),
      'semaphore mutex': () => mine.locks.semaphoreMutex(alias),
      'read/write lock': () => mine.locks.readWriteLock(alias),
      semaphore: () => mine.locks.semaphore(alias, { permits: 1 }),
    };
    for (const [other, makeOther] of Object.entries(others)) {
      if (other === kind) expect(makeOther).not.toThrow();
      else expect(makeOther).toThrow(LockKeyError);
    }
    expect(make).not.toThrow();
  });
}
