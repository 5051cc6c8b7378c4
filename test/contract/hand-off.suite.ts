import { describe, expect, it } from '@jest/globals';
import {
  LockAbortedError,
  type LockError,
  LockLostError,
  LockOptionsError,
  LockTimeoutError,
} from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import type { LockEvents } from '../../lib/core/lock-events.js';
import type { HandOff } from '../../lib/core/lock.js';
import { eventually } from '../support/time.js';
import type { LockStage, StageClient } from './backends/stage.js';

const LONG = 600_000;
const codeOf = (error: unknown) => (error as LockError).code;
/** More than a client ends in one turn. */
const MANY = 3_000;

/** A mutex that is handed on, beside what every mutex does: how, for how long, and what is released instead. */
export function handOffSuite(name: string, stage: () => LockStage): void {
  const mutexOf = ({ locks }: StageClient, handOff: HandOff | false) =>
    locks.mutex(stage().key, { handOff });

  /** Has callers of that client queue, each of which holds the lock for no time, and adds its name to `served`. */
  async function crowd(
    client: StageClient,
    names: readonly string[],
    handOff: HandOff | false,
    served: string[],
  ): Promise<Promise<void>[]> {
    const visits: Promise<void>[] = [];
    for (const visitor of names) {
      const { lease } = await stage().queueFor(mutexOf(client, handOff), client);
      visits.push(
        lease.then(async (held) => {
          served.push(visitor);
          await held.release();
        }),
      );
    }
    return visits;
  }

  function handOffsOf({ locks }: StageClient): (number | undefined)[] {
    const counts: (number | undefined)[] = [];
    locks.on('acquired', ({ handOffs }: LockEvents['acquired']) => counts.push(handOffs));
    return counts;
  }

  /** Has a second caller wait while `use` has the first one's lease; resolves to its lease, and to how often it was handed on. */
  async function afterUse(use: (lease: Lease) => unknown) {
    const { mine } = stage();
    const mutex = mutexOf(mine, { atMost: 9, for: LONG });
    const first = await mutex.acquire();
    const { lease } = await stage().queueFor(mutex, mine);
    const handOffs = handOffsOf(mine);
    await use(first);
    await first.release();
    const next = await lease;
    return { first, next, handOffs: handOffs[0] };
  }

  describe(`Handing on a mutex on ${name}`, () => {
    it('gives it to the callers of a client in the order in which they came, without a request', async () => {
      const { mine } = stage();
      const handOff = { atMost: 100, for: LONG };
      const first = await mutexOf(mine, handOff).acquire();
      const served: string[] = [];
      const visits = await crowd(mine, ['a', 'b', 'c', 'd'], handOff, served);
      const handOffs = handOffsOf(mine);
      const requests: number[] = [];
      mine.locks.on('acquired', () => requests.push(mine.requests.length));
      const before = mine.requests.length;
      await first.release();
      await Promise.all(visits);
      expect(requests).toEqual([before, before, before, before]);
      expect(served).toEqual(['a', 'b', 'c', 'd']);
      expect(handOffs).toEqual([1, 2, 3, 4]);
      expect(first.isHeld).toBe(false);
    });

    it('serves another client when it was handed on as often as the bound says', async () => {
      const { mine, theirs } = stage();
      const handOff = { atMost: 2, for: LONG };
      const first = await mutexOf(mine, handOff).acquire();
      const served: string[] = [];
      const others = await crowd(theirs, ['theirs'], false, served);
      const visits = await crowd(mine, ['a', 'b', 'c', 'd', 'e'], handOff, served);
      await stage().caughtUp(theirs);
      await first.release();
      await Promise.all([...visits, ...others]);
      expect(served.slice(0, 3)).toEqual(['a', 'b', 'theirs']);
      expect(served.slice(3)).toEqual(['c', 'd', 'e']);
    });

    it('serves another client when the time is over', async () => {
      const { mine, theirs } = stage();
      const handOff = { atMost: 1_000, for: 1 };
      const first = await mutexOf(mine, handOff).acquire();
      const begin = performance.now(); // it counts from the grant, which may take long
      const served: string[] = [];
      const others = await crowd(theirs, ['theirs'], false, served);
      const visits = await crowd(mine, ['a', 'b'], handOff, served);
      await stage().caughtUp(theirs);
      await eventually('the time is over', () => performance.now() - begin > 100);
      await first.release();
      await Promise.all([...visits, ...others]);
      expect(served).toEqual(['theirs', 'a', 'b']);
    });

    it('hands nothing on to callers that came without the option', async () => {
      const { mine } = stage();
      const first = await mutexOf(mine, { atMost: 9, for: LONG }).acquire();
      const { lease } = await stage().queueFor(mutexOf(mine, false), mine);
      const handOffs = handOffsOf(mine);
      await first.release();
      await (await lease).release();
      expect(handOffs).toEqual([undefined]);
    });

    it('passes by a caller that has given up', async () => {
      const { mine } = stage();
      const mutex = mutexOf(mine, { atMost: 9, for: LONG });
      const first = await mutex.acquire();
      const { lease: late } = await stage().queueFor(mutex, mine, { wait: 50 });
      const { lease } = await stage().queueFor(mutex, mine);
      await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
      await first.release();
      await using next = await lease;
      expect(next.isHeld).toBe(true);
    });

    it('passes by a caller that gives up in the same moment', async () => {
      const { mine } = stage();
      const mutex = mutexOf(mine, { atMost: 9, for: LONG });
      const first = await mutex.acquire();
      const leave = new AbortController();
      const { lease: left } = await stage().queueFor(mutex, mine, { signal: leave.signal });
      const { lease } = await stage().queueFor(mutex, mine);
      leave.abort();
      await first.release();
      await expect(left).rejects.toBeInstanceOf(LockAbortedError);
      await using next = await lease;
      expect(next.isHeld).toBe(true);
    });

    it('keeps the others out until the last one has released it', async () => {
      const { theirs } = stage();
      const { next } = await afterUse(() => {});
      const theirMutex = mutexOf(theirs, false);
      expect(await theirMutex.tryAcquire()).toBeUndefined();
      await next.release();
      await using lease = await theirMutex.acquire();
      expect(lease.isHeld).toBe(true);
    });

    it('is exclusive, with callers of three clients beside each other', async () => {
      const { mine, theirs } = stage();
      const clients = [mine, theirs, await stage().client()];
      let [inside, most, visits] = [0, 0, 0];
      const visit = async () => {
        most = Math.max(most, ++inside);
        await Promise.resolve();
        inside -= 1;
        visits += 1;
      };
      const work = clients.flatMap((client) =>
        Array.from({ length: 20 }, () => mutexOf(client, { atMost: 3, for: LONG }).using(visit)),
      );
      await Promise.all(work);
      expect({ most, visits }).toEqual({ most: 1, visits: 60 });
    });

    it('gives each caller that asks for a token one of its own, greater than those before', async () => {
      let token = 0n;
      const { next, handOffs } = await afterUse(async (first) => {
        token = await first.fencingToken();
      });
      expect(handOffs).toBeUndefined();
      expect(await next.fencingToken()).toBeGreaterThan(token);
      await next.release();
    });

    it('reports the loss of what was handed on, and lets another one in', async () => {
      const { mine, theirs } = stage();
      const { first, next } = await afterUse(() => {});
      const lost = new Promise((resolve) => next.signal.addEventListener('abort', resolve));
      await stage().expire(mine);
      stage().makeSure(mine);
      await lost;
      expect(next.signal.reason).toBeInstanceOf(LockLostError);
      expect(first.signal.aborted).toBe(false);
      await using lease = await mutexOf(theirs, false).acquire();
      expect(lease.isHeld).toBe(true);
      await next.release();
    });

    it('hands nothing on while the client closes, however many wait', async () => {
      const { mine, theirs } = stage();
      const mutex = mutexOf(mine, { atMost: 9, for: LONG });
      const first = await mutex.acquire();
      const waits = Array.from({ length: MANY }, () => mutex.acquire());
      const ends = Promise.all(waits.map((wait) => wait.then(() => 'granted', codeOf)));
      await eventually('all wait', () => mine.locks.status().waiting === MANY);
      const handOffs = handOffsOf(mine);
      await Promise.all([mine.locks.close(), first.release()]);
      expect(new Set(await ends)).toEqual(new Set(['LOCK_CLIENT_CLOSED']));
      expect(handOffs).toEqual([]);
      await using next = await mutexOf(theirs, false).acquire();
      expect(next.isHeld).toBe(true);
    });

    it('is reported as released once, though a listener releases the lease again', async () => {
      const { mine } = stage();
      const mutex = mutexOf(mine, { atMost: 9, for: LONG });
      const first = await mutex.acquire();
      const { lease } = await stage().queueFor(mutex, mine);
      let released = 0;
      mine.locks.on('released', () => {
        released += 1;
        void first.release();
      });
      await first.release();
      const next = await lease;
      expect([released, next.isHeld]).toEqual([1, true]);
      await next.release();
      expect(released).toBe(2);
    });

    it('shows the present holder, and how often the lock was handed on', async () => {
      const { mine } = stage();
      const mutex = mutexOf(mine, { atMost: 9, for: LONG });
      const first = await mutex.acquire({ method: 'Seats.take' });
      const { lease } = await stage().queueFor(mutex, mine, { method: 'Seats.free' });
      await first.release();
      await using next = await lease;
      const [held, ...others] = mine.locks.activity();
      expect(held).toMatchObject({ state: 'held', method: 'Seats.free', handOffs: 1 });
      expect(others).toEqual([]);
      expect(next.isHeld).toBe(true);
    });

    it.each([
      ['fair', { fair: true, handOff: { atMost: 1, for: 1 } }],
      ['fenced', { fenced: true, handOff: { atMost: 1, for: 1 } }],
      ['no bounds', { handOff: {} }],
      ['a bound of 0', { handOff: { atMost: 0, for: 1 } }],
      ['a part of a millisecond', { handOff: { atMost: 1, for: 0.5 } }],
      ['an unknown bound', { handOff: { atMost: 1, for: 1, times: 2 } }],
      ['true', { handOff: true }],
    ])('refuses %s', (_, options) => {
      const make = () => stage().mine.locks.mutex(stage().key, options as never);
      expect(make).toThrow(LockOptionsError);
    });
  });
}
