import { describe, expect, it, jest } from '@jest/globals';
import { AsyncResource } from 'node:async_hooks';
import { LockNotHeldError } from '../../lib/core/errors/index.js';
import { eventually } from '../support/eventually.js';
import { expectLost } from './expect-lost.js';
import type { LockStage } from './lock-stage.js';

/** The handle on a granted lock. */
export function mutexLeaseSuite(stage: () => LockStage): void {
  it('is held until it is released', async () => {
    const { mine, key } = stage();
    const mutex = mine.lock(key);
    const lease = await mutex.acquire();
    expect(lease).toMatchObject({ key: mutex.key, isHeld: true });
    lease.assertHeld();
    const { signal } = lease;

    await lease.release();
    expect(lease.isHeld).toBe(false);
    expect(signal.aborted).toBe(false);
    expect(() => lease.assertHeld()).toThrow(LockNotHeldError);
    await expect(lease.fencingToken()).rejects.toBeInstanceOf(LockNotHeldError);
    await expect(lease.run(async () => {})).rejects.toBeInstanceOf(LockNotHeldError);
  });

  it('released twice is released once', async () => {
    const { mine, theirs, key } = stage();
    const lease = await mine.lock(key).acquire();
    await Promise.all([lease.release(), lease.release()]);
    await using next = await theirs.lock(key).acquire();
    await lease.release();
    expect(next.isHeld).toBe(true);
    expect(await mine.lock(key).tryAcquire()).toBeUndefined();
  });

  it('may be released from any async context', async () => {
    const { mine, theirs, key } = stage();
    const elsewhere = new AsyncResource('elsewhere');
    const lease = await mine.lock(key).acquire();
    await lease.run(() => elsewhere.runInAsyncScope(() => lease.release()));
    await using next = await theirs.lock(key).tryAcquire();
    expect(next?.isHeld).toBe(true);
  });

  it('is released by `await using` at the end of its block (Curator: testLocker)', async () => {
    const { mine, theirs, key } = stage();
    {
      await using lease = await mine.lock(key).acquire();
      expect(lease.isHeld).toBe(true);
    }
    await using next = await theirs.lock(key).tryAcquire();
    expect(next?.isHeld).toBe(true);
  });

  describe('of using()', () => {
    it('ends with what the work returns', async () => {
      const { mine, key } = stage();
      const result = { some: 'value' };
      expect(await mine.lock(key).using(async () => result)).toBe(result);
      expect(await mine.lock(key).using(() => result)).toBe(result);
      expect(await stage().contenders()).toEqual([]);
    });

    it.each([
      ['rejects with', async (error: Error) => Promise.reject(error)],
      [
        'throws',
        (error: Error) => {
          throw error;
        },
      ],
    ])('ends with the very error that the work %s', async (_, fail) => {
      const { mine, key } = stage();
      const error = new Error('no paper');
      await expect(mine.lock(key).using(() => fail(error))).rejects.toBe(error);
      expect(await stage().contenders()).toEqual([]);
    });

    it('does not replace the result when it was lost', async () => {
      const { mine, key } = stage();
      const error = new Error('no paper');
      const lose = async () => void (await stage().expire(mine));
      expect(await mine.lock(key).using(() => lose().then(() => 'done'))).toBe('done');
      const failing = mine.lock(key).using(() => lose().then(() => Promise.reject(error)));
      await expect(failing).rejects.toBe(error);
    });

    it('does not replace the result when another client has taken the lock away', async () => {
      const { mine, key } = stage();
      const result = await mine.lock(key).using(async () => {
        await stage().evict();
        return 'done';
      });
      expect(result).toBe('done');
    });

    it('does not replace the result when the servers refuse the removal, but warns', async () => {
      const { mine, key } = stage();
      const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
      try {
        const result = await mine.lock(key).using(async () => {
          await stage().forbidRemoval();
          return 'done';
        });
        expect(result).toBe('done');
        expect(warn).toHaveBeenCalledWith(
          expect.stringMatching(/not allowed to remove.*NOAUTH|did not allow .* to release/),
        );
      } finally {
        warn.mockRestore();
        await stage().permitRemoval();
      }
    });
  });

  describe('is lost', () => {
    it('when the servers forget it, and another client gets the lock (Curator: testKilledSession)', async () => {
      const { mine, theirs, key } = stage();
      const lease = await mine.lock(key).acquire();
      const { lease: waiting } = await stage().queue(theirs);
      await stage().expire(mine);
      await using next = await waiting;
      expect(next.isHeld).toBe(true);
      expectLost(lease);
      await lease.release();
      expect(next.isHeld).toBe(true);
    });

    it('when another client takes the lock away', async () => {
      const { mine, theirs, key } = stage();
      const lease = await mine.lock(key).acquire();
      await lease.fencingToken(); // on ZooKeeper it watches its node from now on
      const { signal } = lease;
      const { lease: waiting } = await stage().queue(theirs);
      await stage().evict();
      stage().makeSure(mine);
      await eventually('the signal of the holder aborts', () => signal.aborted);
      expect((signal.reason as Error).message).toMatch(
        /its node was deleted|removed by force|its part .* lost|fewer than \d+ of/,
      );
      expectLost(lease);
      await lease.release();
      await using next = await waiting;
      expect(next.isHeld).toBe(true);
    });
  });

  describe('has a fencing token', () => {
    it('that grows with every grant, whichever client gets it', async () => {
      const { mine, theirs, key } = stage();
      const tokens: bigint[] = [];
      for (const client of [mine, theirs, mine, theirs, mine]) {
        await client.lock(key).using(async (lease) => void tokens.push(await lease.fencingToken()));
      }
      expectGrowing(tokens);
    });

    it('that grows from holder to waiter', async () => {
      const { mine, theirs, key } = stage();
      const first = await mine.lock(key).acquire();
      const { lease: waiting } = await stage().queue(theirs);
      const tokens = [await first.fencingToken()];
      await first.release();
      const second = await waiting;
      tokens.push(await second.fencingToken());
      await second.release();
      expectGrowing(tokens);
    });

    function expectGrowing(tokens: bigint[]): void {
      for (const [i, token] of tokens.entries())
        if (i > 0) expect(token).toBeGreaterThan(tokens[i - 1]!);
    }
  });
}
