import { describe, expect, it } from '@jest/globals';
import type { HandOff } from '../../lib/core/lock.js';
import { eventually } from '../support/time.js';
import type { LockStage, StageClient } from './backends/stage.js';

const LONG = 600_000;
const OFTEN: HandOff = { atMost: 1_000_000, for: LONG, keep: LONG };

/** A mutex that its client keeps while no caller waits for it: for how long, and for which caller. */
export function keptLockSuite(name: string, stage: () => LockStage): void {
  const mutexOf = ({ locks }: StageClient, handOff: HandOff | false = OFTEN) =>
    locks.mutex(stage().key, { handOff });

  /** Has the client take the lock and release it; resolves when it keeps it, and has looked for others that want it. */
  async function keptBy(client: StageClient, handOff = OFTEN): Promise<void> {
    const lease = await mutexOf(client, handOff).acquire();
    const before = client.requests.length;
    await lease.release();
    await eventually('it looks for others', () => client.requests.length > before);
    await client.locks.ping();
    expect(client.locks.status().kept).toBe(1);
  }

  const isKept = ({ locks }: StageClient) => locks.status().kept === 1;

  describe(`Keeping a mutex on ${name}`, () => {
    it('gives it to each next caller without a request', async () => {
      const { mine } = stage();
      await keptBy(mine);
      const handOffs: (number | undefined)[] = [];
      mine.locks.on('acquired', (event) => handOffs.push(event.handOffs));
      const before = mine.requests.length;
      for (let i = 0; i < 3; i++) await mutexOf(mine).using(() => {});
      const tried = await mutexOf(mine).tryAcquire();
      expect(mine.requests.length).toBe(before);
      await tried?.release();
      expect(handOffs).toEqual([1, 2, 3, 4]);
      expect(isKept(mine)).toBe(true);
    });

    it('is not held by any caller meanwhile', async () => {
      const { mine } = stage();
      await keptBy(mine);
      expect(mine.locks.status().held).toBe(0);
      expect(mine.locks.activity()).toEqual([]);
      await using lease = await mutexOf(mine).acquire();
      expect([lease.isHeld, mine.locks.status().held, isKept(mine)]).toEqual([true, 1, false]);
    });

    it('gives it back as soon as another client waits for it', async () => {
      const { mine, theirs } = stage();
      await keptBy(mine);
      await using lease = await mutexOf(theirs, false).acquire();
      expect([lease.isHeld, isKept(mine)]).toEqual([true, false]);
      expect(await mutexOf(mine).tryAcquire()).toBeUndefined();
    });

    it('releases it to another client that came while it was held, for the first time or again', async () => {
      const { mine, theirs } = stage();
      for (const isKeptBefore of [false, true]) {
        if (isKeptBefore) await keptBy(mine);
        const first = await mutexOf(mine).acquire();
        const { lease } = await stage().queueFor(mutexOf(theirs, false), theirs);
        await first.release();
        const next = await lease;
        expect(isKept(mine)).toBe(false);
        await next.release();
      }
    });

    it('gives it back at once to a caller of the same client that came without the option', async () => {
      const { mine } = stage();
      await keptBy(mine);
      await using lease = await mutexOf(mine, false).acquire();
      expect([lease.isHeld, isKept(mine)]).toEqual([true, false]);
    });

    it('gives it back when its time is over', async () => {
      const { mine, theirs } = stage();
      await mutexOf(mine, { ...OFTEN, keep: 50 }).using(() => {});
      await eventually('it is free', async () => {
        const lease = await mutexOf(theirs, false).tryAcquire();
        await lease?.release();
        return lease !== undefined;
      });
      expect(isKept(mine)).toBe(false);
    });

    it('gives it back when the time of its hand-offs is over, however often it is taken', async () => {
      const { mine } = stage();
      await mutexOf(mine, { ...OFTEN, for: 50 }).using(() => {});
      await eventually('it is given back', () => !isKept(mine));
    });

    it('releases it when it was handed on as often as it may be', async () => {
      const { mine } = stage();
      const mutex = mutexOf(mine, { ...OFTEN, atMost: 2 });
      const kept: boolean[] = [];
      for (let i = 0; i < 4; i++) {
        await mutex.using(() => {});
        kept.push(isKept(mine));
      }
      expect(kept).toEqual([true, true, false, true]);
    });

    it('does not keep what others may have seen: its token', async () => {
      const { mine } = stage();
      const mutex = mutexOf(mine);
      const token = await mutex.using((lease) => lease.fencingToken());
      expect(isKept(mine)).toBe(false);
      expect(await mutex.using((lease) => lease.fencingToken())).toBeGreaterThan(token);
    });

    it('is exclusive, and forgets no caller, with callers of three clients beside each other', async () => {
      const { mine, theirs } = stage();
      const clients = [mine, theirs, await stage().client()];
      let [inside, most, visits] = [0, 0, 0];
      const visit = async () => {
        most = Math.max(most, ++inside);
        await Promise.resolve();
        inside -= 1;
        visits += 1;
      };
      const work = clients.map(async (client) => {
        const mutex = mutexOf(client, { ...OFTEN, atMost: 5 });
        for (let i = 0; i < 20; i++) await Promise.all([mutex.using(visit), mutex.using(visit)]);
      });
      await Promise.all(work);
      expect({ most, visits }).toEqual({ most: 1, visits: 120 });
    });

    it('gives it back when the client closes, or takes no new callers', async () => {
      const { mine, theirs } = stage();
      for (const client of [mine, await stage().client()]) {
        await keptBy(client);
        const end = client === mine ? client.locks.drain() : client.locks.close();
        await using lease = await mutexOf(theirs, false).acquire();
        await end;
        expect(lease.isHeld).toBe(true);
      }
    });

    it('is not with two clients for long when the servers have forgotten it', async () => {
      const { mine, theirs } = stage();
      await keptBy(mine);
      await stage().expire(mine);
      const first = await mutexOf(mine).acquire();
      stage().makeSure(mine);
      await eventually('one of them has it', async () => {
        const other = await mutexOf(theirs, false).tryAcquire();
        await other?.release();
        return first.isHeld !== (other !== undefined);
      });
      await first.release();
    });

    it('reports no loss of what no caller had', async () => {
      const { mine, theirs } = stage();
      await keptBy(mine);
      let lost = 0;
      mine.locks.on('lost', () => (lost += 1));
      await stage().expire(mine);
      stage().makeSure(mine);
      await using lease = await mutexOf(theirs, false).acquire();
      expect([lease.isHeld, lost]).toEqual([true, 0]);
    });
  });
}
