import { describe, expect, it } from '@jest/globals';
import { LockAbortedError, LockTimeoutError } from '../../lib/core/errors/index.js';
import { CriticalSection } from '../integration/support/critical-section.js';
import { eventually } from '../support/eventually.js';
import { seededRandom } from '../support/seeded-random.js';
import type { RedisStageClient } from './redis-stage-client.js';
import type { RedisStage } from './redis-stage.js';
import { redisMultiLockWays } from './redis-multi-lock-ways.js';

/** Deadlines, signals and single attempts over several locks on Redis; and that no clients wait in a circle. */
export function redisMultiLockWaitSuite(stage: () => RedisStage): void {
  const keyOf = (part: string) => `{${stage().key}}-${part}`;

  describe.each(redisMultiLockWays)('%s', (_, lockOf) => {
    const partOf = ({ locks }: RedisStageClient, part: string) => lockOf(locks, keyOf(part));
    const multiOf = (client: RedisStageClient, ...parts: string[]) =>
      client.locks.multiLock(parts.map((part) => partOf(client, part)));
    const isFree = async (part: string) => {
      await using lease = await partOf(stage().theirs, part).tryAcquire();
      return lease !== undefined;
    };
    const areLeft = async (taken: readonly string[]) => {
      const expected = taken.map(keyOf);
      await eventually(`only ${taken.join()} is left`, async () => {
        const remains = await stage().remains();
        return remains.length === expected.length && expected.every((key) => remains.includes(key));
      });
    };

    it('has one deadline over all of them, not one for each', async () => {
      const { mine, theirs } = stage();
      const first = await partOf(theirs, 'a').acquire();
      await using _ = await partOf(theirs, 'b').acquire();
      const start = performance.now();
      const multi = multiOf(mine, 'b', 'a');
      const { lease: late } = await stage().queueFor(multi, mine, { wait: 600 });
      await eventually('most of it is over', () => performance.now() - start > 400);
      await first.release();
      await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
      await expect(late).rejects.toMatchObject({
        waitedMs: 600,
        key: `${keyOf('a')} + ${keyOf('b')}`,
      });
      await areLeft(['b']);
    });

    it('leaves nothing when a signal aborts the wait', async () => {
      const { mine, theirs } = stage();
      await using _ = await partOf(theirs, 'b').acquire();
      const stop = new AbortController();
      const why = new Error('the user went away');
      const multi = multiOf(mine, 'a', 'b', 'c');
      const { lease } = await stage().queueFor(multi, mine, { signal: stop.signal });
      stop.abort(why);
      await expect(lease).rejects.toBeInstanceOf(LockAbortedError);
      await expect(lease).rejects.toMatchObject({ cause: why });
      await areLeft(['b']);
      await using other = await partOf(mine, 'a').tryAcquire(); // its place in the line is free, too
      expect(other?.isHeld).toBe(true);
    });

    it('leaves nothing when its client closes', async () => {
      const { mine, theirs } = stage();
      await using _ = await partOf(theirs, 'b').acquire();
      const { lease } = await stage().queueFor(multiOf(mine, 'a', 'b'), mine);
      await mine.locks.close();
      await expect(lease).rejects.toMatchObject({ code: 'LOCK_CLIENT_CLOSED' });
      await areLeft(['b']);
    });

    it('takes none with tryAcquire when one is taken, and leaves nothing', async () => {
      const { mine, theirs } = stage();
      for (const taken of ['a', 'b', 'c']) {
        await partOf(theirs, taken).using(async () => {
          expect(await multiOf(mine, 'c', 'b', 'a').tryAcquire()).toBeUndefined();
          await areLeft([taken]);
        });
      }
      await using lease = await multiOf(mine, 'c', 'b', 'a').tryAcquire();
      expect(lease?.isHeld).toBe(true);
    });

    it('takes what comes free one by one, whichever it finds taken', async () => {
      const { mine, theirs } = stage();
      const holders = [await partOf(theirs, 'c').acquire(), await partOf(theirs, 'a').acquire()];
      const { lease } = await stage().queueFor(multiOf(mine, 'a', 'b', 'c'), mine);
      for (const holder of holders) await holder.release();
      await using held = await lease;
      expect(held.isHeld).toBe(true);
      for (const part of ['a', 'b', 'c']) expect(await isFree(part)).toBe(false);
    });

    it('has lines in its process, which it leaves when one of them is long', async () => {
      const { mine } = stage();
      await using _ = await partOf(mine, 'b').acquire();
      const late = multiOf(mine, 'a', 'b').acquire({ wait: 50 });
      await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
      expect(await multiOf(mine, 'a', 'b').tryAcquire()).toBeUndefined();
      expect(await isFree('a')).toBe(true);
    });

    describe('never waits in a circle', () => {
      it('with another that names the same locks in the opposite order', async () => {
        const { mine, theirs } = stage();
        const section = new CriticalSection();
        const rounds = async (client: RedisStageClient, ...parts: string[]) => {
          for (let round = 0; round < 20; round++)
            await multiOf(client, ...parts).using(() => visit([section]), { wait: 20_000 });
        };
        await Promise.all([
          rounds(mine, 'a', 'b'),
          rounds(theirs, 'b', 'a'),
          rounds(mine, 'b', 'a'),
          rounds(theirs, 'a', 'b'),
        ]);
        expect(section.most).toBe(1);
        expect(section.visitors).toHaveLength(80);
      });

      it('with many that want some of five at random, and with others that want a single one', async () => {
        const { mine, theirs } = stage();
        const parts = ['a', 'b', 'c', 'd', 'e'];
        const sections = new Map(parts.map((part) => [part, new CriticalSection()]));
        const random = seededRandom(2_026);
        const some = () => {
          const order = parts.map((part) => ({ part, at: random() })).sort((a, b) => a.at - b.at);
          return order.slice(0, 1 + Math.floor(random() * 4)).map(({ part }) => part);
        };
        const work = async (client: RedisStageClient) => {
          for (let round = 0; round < 25; round++) {
            const wanted = some();
            const [first] = wanted;
            const lock = wanted.length === 1 ? partOf(client, first!) : multiOf(client, ...wanted);
            const inside = wanted.map((part) => sections.get(part)!);
            await lock.using(() => visit(inside), { wait: 20_000 });
          }
        };
        await Promise.all([mine, theirs, mine, theirs, mine, theirs].map(work));
        for (const { most } of sections.values()) expect(most).toBe(1);
      });

      /** Stays for a turn of the servers. */
      async function visit(sections: readonly CriticalSection[]): Promise<void> {
        for (const section of sections) section.enter('somebody');
        await stage().observer.exists(stage().key);
        for (const section of sections) section.leave();
      }
    });
  });
}
