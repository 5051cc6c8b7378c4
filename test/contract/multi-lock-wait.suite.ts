import { describe, expect, it } from '@jest/globals';
import { LockAbortedError, LockTimeoutError } from '../../lib/core/errors/index.js';
import { CriticalSection } from '../integration/support/critical-section.js';
import { eventually } from '../support/eventually.js';
import type { Client } from './client.js';
import type { Stage } from './stage.js';

/** Deadlines, signals and single attempts over several locks; and that no clients wait in a circle. */
export function multiLockWaitSuite(stage: () => Stage): void {
  const keyOf = (part: string) => `${stage().key}-${part}`;
  const multiOf = ({ locks }: Client, ...parts: string[]) =>
    locks.multiLock(parts.map((part) => locks.mutex(keyOf(part))));
  const queueOf = (part: string) => stage().queueIn(`/locks/${keyOf(part)}`);
  const isLength = (part: string, length: number) =>
    eventually(`${length} at ${part}`, async () => (await queueOf(part)).length === length);

  it('has one deadline over all of them, not one for each', async () => {
    const { mine, theirs } = stage();
    const first = await theirs.locks.mutex(keyOf('a')).acquire();
    await using _ = await theirs.locks.mutex(keyOf('b')).acquire();
    const start = performance.now();
    const late = multiOf(mine, 'b', 'a').acquire({ wait: 600 });
    late.catch(() => {});
    await isLength('a', 2);
    await eventually('most of it is over', () => performance.now() - start > 400);
    await first.release();
    await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
    await expect(late).rejects.toMatchObject({
      waitedMs: 600,
      key: `${keyOf('a')} + ${keyOf('b')}`,
    });
    expect(performance.now() - start).toBeLessThan(900);
    await isLength('a', 0);
    await isLength('b', 1);
  });

  it('releases what it holds when a signal aborts the wait for the next part', async () => {
    const { mine, theirs } = stage();
    await using _ = await theirs.locks.mutex(keyOf('b')).acquire();
    const stop = new AbortController();
    const why = new Error('the user went away');
    const waiting = multiOf(mine, 'a', 'b').acquire({ signal: stop.signal });
    waiting.catch(() => {});
    await isLength('b', 2);
    expect(await theirs.locks.mutex(keyOf('a')).tryAcquire()).toBeUndefined();
    stop.abort(why);
    await expect(waiting).rejects.toBeInstanceOf(LockAbortedError);
    await expect(waiting).rejects.toMatchObject({ cause: why });
    await isLength('a', 0);
    await isLength('b', 1);
  });

  it('releases what it holds when its client closes', async () => {
    const { mine, theirs } = stage();
    await using _ = await theirs.locks.mutex(keyOf('b')).acquire();
    const waiting = multiOf(mine, 'a', 'b').acquire();
    waiting.catch(() => {});
    await isLength('b', 2);
    await mine.locks.close();
    await expect(waiting).rejects.toMatchObject({ code: 'LOCK_CLIENT_CLOSED' });
    await isLength('a', 0);
    await isLength('b', 1);
  });

  it('takes none with tryAcquire when one is taken, and leaves nothing', async () => {
    const { mine, theirs } = stage();
    for (const taken of ['a', 'b', 'c']) {
      await theirs.locks.mutex(keyOf(taken)).using(async () => {
        expect(await multiOf(mine, 'c', 'b', 'a').tryAcquire()).toBeUndefined();
        for (const part of ['a', 'b', 'c'])
          expect(await queueOf(part)).toHaveLength(part === taken ? 1 : 0);
      });
    }
    await using lease = await multiOf(mine, 'c', 'b', 'a').tryAcquire();
    expect(lease?.isHeld).toBe(true);
  });

  describe('never waits in a circle', () => {
    it('with another that names the same locks in the opposite order', async () => {
      const { mine, theirs } = stage();
      const section = new CriticalSection();
      await Promise.all([
        rounds(section, 'mine', multiOf(mine, 'a', 'b')),
        rounds(section, 'theirs', multiOf(theirs, 'b', 'a')),
      ]);
      expect(section.most).toBe(1);
      expect(section.visitors).toHaveLength(40);
    });

    it('with others that share one lock each', async () => {
      const { mine, theirs } = stage();
      const third = await stage().client();
      const sections = Array.from({ length: 3 }, () => new CriticalSection());
      await Promise.all([
        rounds(sections[0]!, 'mine', multiOf(mine, 'a', 'b')),
        rounds(sections[1]!, 'theirs', multiOf(theirs, 'b', 'c')),
        rounds(sections[2]!, 'third', multiOf(third, 'c', 'a')),
      ]);
      for (const { visitors } of sections) expect(visitors).toHaveLength(20);
    });

    it('with another that has its parts from several clients, too', async () => {
      const { mine, theirs } = stage();
      const section = new CriticalSection();
      const [a, b] = [keyOf('a'), keyOf('b')];
      const one = mine.locks.multiLock([mine.locks.mutex(a), theirs.locks.mutex(b)]);
      const other = mine.locks.multiLock([mine.locks.mutex(b), theirs.locks.mutex(a)]);
      await Promise.all([rounds(section, 'one', one), rounds(section, 'other', other)]);
      expect(section.most).toBe(1);
    });

    async function rounds(
      section: CriticalSection,
      visitor: string,
      multi: ReturnType<typeof multiOf>,
    ): Promise<void> {
      for (let round = 0; round < 20; round++) {
        await multi.using(
          async () => {
            section.enter(visitor);
            await stage().stranger.exists('/'); // a turn of the servers
            section.leave();
          },
          { wait: 20_000 },
        );
      }
    }
  });
}
