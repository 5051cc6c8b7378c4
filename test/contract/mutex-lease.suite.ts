import { AsyncResource } from 'node:async_hooks';
import { describe, expect, it, jest } from '@jest/globals';
import { LockLostError, LockNotHeldError, LockTimeoutError } from '../../lib/core/errors/index.js';
import { currentLease } from '../../lib/core/internal/lease-scope.js';
import type { Lease } from '../../lib/core/lease.js';
import type { LockEvents } from '../../lib/core/lock-events.js';
import { Deferred, earliest, eventually } from '../support/time.js';
import { eventsOf, expectLost } from './backends/leases.js';
import { expectReleased, type LockStage, nextEvent, takenOver } from './backends/stage.js';

/** The handle on a granted lock. */
export function mutexLeaseSuite(stage: () => LockStage): void {
  it('is held until it is released (Redisson: testIsHeldByCurrentThread)', async () => {
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
    const { mine, key } = stage();
    const elsewhere = new AsyncResource('elsewhere');
    const lease = await mine.lock(key).acquire();
    await lease.run(() => elsewhere.runInAsyncScope(() => lease.release()));
    await using next = await takenOver(stage());
    expect(next.isHeld).toBe(true);
  });

  it('is released by `await using` at the end of its block (Curator: testLocker)', async () => {
    const { mine, key } = stage();
    {
      await using lease = await mine.lock(key).acquire();
      expect(lease.isHeld).toBe(true);
    }
    await using next = await takenOver(stage());
    expect(next.isHeld).toBe(true);
  });

  describe('of using()', () => {
    it('ends with what the work returns', async () => {
      const { mine, key } = stage();
      const result = { some: 'value' };
      expect(await mine.lock(key).using(async () => result)).toBe(result);
      expect(await mine.lock(key).using(() => result)).toBe(result);
      await expectReleased(stage());
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
      await expectReleased(stage());
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
        mine.locks.refuse(); // ends what is kept
        await eventually('it warns', () => warn.mock.calls.length > 0);
        expect(warn).toHaveBeenCalledWith(
          expect.stringMatching(/not allowed to remove.*NOAUTH|did not allow .* to release/),
        );
      } finally {
        warn.mockRestore();
        await stage().permitRemoval();
      }
    });
  });
}

/** What becomes of a lease on the servers. */
export function mutexLossSuite(stage: () => LockStage): void {
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

/** Re-entry follows the async call tree: an acquire inside of a live lease of the same lock. */
export function mutexReentrySuite(stage: () => LockStage): void {
  it('goes three deep without asking the servers (Curator: testReentrant)', async () => {
    const { mine, theirs, key } = stage();
    const mutex = mine.lock(key);
    await mutex.using(async (lease) => {
      await lease.fencingToken(); // the one thing that a lease asks for once
      const asked = mine.requests.length;
      const depth = await mutex.using(() => mutex.using(() => mutex.using(async () => 3)));
      expect(depth).toBe(3);
      expect(mine.requests).toHaveLength(asked);
      expect(await theirs.lock(key).tryAcquire()).toBeUndefined();
    });
    await expectReleased(stage());
  });

  it('also goes through another mutex object of the key', async () => {
    const { mine, key } = stage();
    await using lease = await mine.lock(key).acquire();
    await lease.run(async () => {
      await using again = await mine.lock(key).tryAcquire();
      expect(again?.isHeld).toBe(true);
    });
  });

  it('is for a query that begins when it is awaited, as those of Knex and Mongoose, and is only returned', async () => {
    const { mine, key } = stage();
    const mutex = mine.lock(key);
    const query = {
      then: (done: (result: string) => void, failed: (error: unknown) => void) =>
        void mutex.using(() => currentLease()!.key, { wait: 5_000 }).then(done, failed),
    } as never as Promise<string>;
    expect(await mutex.using(() => query)).toBe(mutex.key);
  });

  it('is not for siblings, which exclude each other', async () => {
    const { mine, key } = stage();
    const mutex = mine.lock(key);
    const story: string[] = [];
    const work = (name: string) =>
      mutex.using(async () => {
        story.push(`${name} enters`);
        await mutex.using(async () => {});
        story.push(`${name} leaves`);
      });
    await Promise.all([work('a'), work('b')]);
    expect(story).toEqual(['a enters', 'a leaves', 'b enters', 'b leaves']);
  });

  it('does not go through another client', async () => {
    const { mine, theirs, key } = stage();
    await mine.lock(key).using(async () => {
      expect(await theirs.lock(key).tryAcquire()).toBeUndefined();
    });
  });

  it('needs the scope of the lease, which is a handle, not an ambient state', async () => {
    const { mine, key } = stage();
    await using lease = await mine.lock(key).acquire();
    expect(currentLease()).toBeUndefined();
    expect(await mine.lock(key).tryAcquire()).toBeUndefined();
    await lease.run(async () => expect(currentLease()).toBe(lease));
  });

  it('is not for work that was started inside and goes on after the release', async () => {
    const { mine, theirs, key } = stage();
    const gate = new Deferred();
    let detached!: Promise<Lease | undefined>;
    await mine.lock(key).using(async () => {
      detached = gate.promise.then(() => mine.lock(key).tryAcquire());
    });
    await using _ = await theirs.lock(key).acquire();
    gate.resolve();
    expect(await detached).toBeUndefined();
  });

  it('keeps the lock held until the work that came in has let go too (Redisson: testGetHoldCount)', async () => {
    const { mine, theirs, key } = stage();
    const mutex = mine.lock(key);
    const inner = await mutex.using(() => mutex.acquire());
    expect(inner.isHeld).toBe(true);
    expect(await theirs.lock(key).tryAcquire()).toBeUndefined();
    await inner.release();
    await using after = await takenOver(stage());
    expect(after.isHeld).toBe(true);
  });

  it('never revives a lost lease: the nested call queues anew', async () => {
    const { mine, key } = stage();
    const mutex = mine.lock(key);
    await mutex.using(async (lost) => {
      const token = await lost.fencingToken();
      await stage().expire(mine);
      await using fresh = await mutex.acquire();
      expect([lost.isHeld, fresh.isHeld]).toEqual([false, true]);
      expect(await fresh.fencingToken()).toBeGreaterThan(token);
      expect(() => lost.assertHeld()).toThrow(LockLostError);
      await expect(lost.run(async () => 'never')).rejects.toBeInstanceOf(LockLostError);
    });
    await expectReleased(stage());
  });

  it('counts each handle once, however often it is released', async () => {
    const { mine, theirs, key } = stage();
    const outer = await mine.lock(key).acquire();
    const inner = await outer.run(() => mine.lock(key).acquire());
    await inner.release();
    await inner.release();
    expect([outer.isHeld, inner.isHeld]).toEqual([true, false]);
    expect(() => inner.assertHeld()).toThrow(LockNotHeldError);
    expect(await theirs.lock(key).tryAcquire()).toBeUndefined();
    await outer.release();
  });

  it('works with tryAcquire too', async () => {
    const { mine, key } = stage();
    const mutex = mine.lock(key);
    await mutex.using(async () => {
      await using again = await mutex.tryAcquire();
      expect(again?.isHeld).toBe(true);
    });
  });

  it('is allowed after refuse(), so that what is held may end', async () => {
    const { mine, key } = stage();
    const held = await mine.lock(key).acquire();
    mine.locks.refuse();
    expect(await held.run(() => mine.lock(key).using(async () => 'done'))).toBe('done');
    await held.release();
  });

  it('emits no events: only the first acquire is reported as acquired, and only the last release as released', async () => {
    const { mine, key } = stage();
    const heard: string[] = [];
    for (const kind of ['acquired', 'released'] as const)
      mine.locks.on(kind, ({ key: about }) => heard.push(`${kind} ${about}`));
    const mutex = mine.lock(key);
    await mutex.using(async () => {
      const sofar = [...heard];
      await mutex.using(async () => {});
      expect(heard).toEqual(sofar);
    });
    expect(heard).toHaveLength(new Set(heard).size);
  });

  it('shares the loss among all handles', async () => {
    const { mine, key } = stage();
    const outer = await mine.lock(key).acquire();
    const inner = await outer.run(() => mine.lock(key).acquire());
    await stage().expire(mine);
    expectLost(outer);
    expectLost(inner);
    await Promise.all([outer.release(), inner.release()]);
  });

  it('shares the fencing token, which fits 64 bits', async () => {
    const { mine, key } = stage();
    const mutex = mine.lock(key);
    await mutex.using(async (outer) => {
      await using inner = await mutex.acquire();
      const token = await inner.fencingToken();
      expect(await outer.fencingToken()).toBe(token);
      expect(BigInt.asIntN(64, token)).toBe(token);
    });
  });
}

/** What sets a semaphore mutex apart. */
export function mutexNonReentrantSuite(stage: () => LockStage): void {
  it('a nested acquire waits for itself', async () => {
    const { mine, key } = stage();
    const mutex = mine.lock(key);
    await mutex.using(async (lease) => {
      expect(currentLease()).toBe(lease);
      await expect(mutex.acquire({ wait: 30 })).rejects.toBeInstanceOf(LockTimeoutError);
      expect(await mutex.tryAcquire()).toBeUndefined();
      expect(lease.isHeld).toBe(true);
    });
  });
}

/** What a client reports to its listeners. */
export function mutexEventsSuite(stage: () => LockStage): void {
  it('report that it is acquired and released', async () => {
    const { mine, key } = stage();
    const heard = eventsOf(mine);
    await mine.lock(key).using(async () => {});
    expect(heard).toEqual([
      {
        kind: 'acquired',
        recipe: mine.lock(key).identity.recipe,
        key,
        waitedMs: expect.any(Number),
      },
      { kind: 'released', recipe: mine.lock(key).identity.recipe, key, heldMs: expect.any(Number) },
    ]);
  });

  it('report the method that asked for it', async () => {
    const { mine, key } = stage();
    const heard = eventsOf(mine);
    await mine.lock(key).using(async () => {}, { method: 'Seats.take' });
    expect(heard).toMatchObject([{ method: 'Seats.take' }, { method: 'Seats.take' }]);
  });

  it('report once that it is waited for, although it has to wait for two others, one after the other', async () => {
    const { mine, theirs, key } = stage();
    const holder = await mine.lock(key).acquire();
    const leave = new AbortController();
    await stage().queue(mine, { signal: leave.signal });
    const heard = eventsOf(theirs);
    const { lease } = await stage().queue(theirs);
    expect(heard).toEqual([{ kind: 'contended', recipe: mine.lock(key).identity.recipe, key }]);

    leave.abort();
    await eventually('it has left', async () => (await stage().contenders()).length === 2);
    await stage().caughtUp(theirs); // it has looked again, and waits again
    await holder.release();
    await (await lease).release();
    expect(heard.map(({ kind }) => kind)).toEqual(['contended', 'acquired', 'released']);
  });

  it('report an acquire that failed, with its error', async () => {
    const { mine, theirs, key } = stage();
    await using _ = await mine.lock(key).acquire();
    const heard = eventsOf(theirs);
    const error: unknown = await theirs
      .lock(key)
      .acquire({ wait: 300 })
      .catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(LockTimeoutError);
    expect(heard).toEqual([
      { kind: 'contended', recipe: mine.lock(key).identity.recipe, key },
      {
        kind: 'failed',
        recipe: mine.lock(key).identity.recipe,
        key,
        waitedMs: expect.any(Number),
        error,
      },
    ]);
    expect((heard[1] as unknown as LockEvents['failed']).waitedMs).toBeGreaterThanOrEqual(
      earliest(300),
    );
  });

  it('report nothing when tryAcquire finds it taken', async () => {
    const { mine, theirs, key } = stage();
    await using _ = await mine.lock(key).acquire();
    const heard = eventsOf(theirs);
    await theirs.lock(key).tryAcquire();
    expect(heard).toEqual([]);
  });

  it('report that it is lost, with the error of its signal, and then not that it is released', async () => {
    const { mine, key } = stage();
    const lease = await mine.lock(key).acquire();
    const heard = eventsOf(mine);
    const { signal } = lease;
    await stage().expire(mine);
    await lease.release();
    expect(signal.reason).toBeInstanceOf(LockLostError);
    expect(heard).toEqual([
      {
        kind: 'lost',
        recipe: mine.lock(key).identity.recipe,
        heldMs: expect.any(Number),
        key,
        error: signal.reason as unknown,
      },
    ]);
  });

  it('do not reach a listener that was taken off', async () => {
    const { mine, key } = stage();
    const told: string[] = [];
    const stop = mine.locks.on('acquired', ({ key: acquired }) => told.push(acquired));
    const next = nextEvent(mine.locks, 'released');
    await mine.lock(key).using(async () => {});
    await next;
    stop();
    await mine.lock(key).using(async () => {});
    expect(told).toEqual([key]);
  });
}
