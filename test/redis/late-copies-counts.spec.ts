import { beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { LockAbortedError } from '../../lib/core/errors/index.js';
import { eventually } from '../support/eventually.js';
import { CHANGES } from './late-copies-changes.js';
import { onLateCopies } from './late-copies-stage.js';

describe('A late copy does not count:', () => {
  const stage = onLateCopies();

  describe.each([
    ['that was held up', 'late'],
    ['that was carried out before, but not answered', 'unanswered'],
    ['that was answered before', 'replayed'],
  ] as const)('a copy %s,', (_, way) => {
    it.each(CHANGES)('of $name', async ({ prepare, change, meanwhile, look, seen }) => {
      const { mine, theirs, key, server } = stage();
      const others = await stage().client(server.port);
      const warm = randomUUID(); // from here on the server knows the scripts
      await change(mine, warm, await prepare?.(mine, warm));

      const prepared = await prepare?.(theirs, key);
      const [, copy] = await stage()[way](() => change(mine, key, prepared));
      await meanwhile?.(others, key, server);
      expect(await look(theirs, key)).toBe(seen);
      await stage().arrive(copy);
      expect(await look(theirs, key)).toBe(seen);
    });
  });

  describe('of an acquire of a plain semaphore', () => {
    const free = () => stage().server.command('GET', stage().key);

    beforeEach(async () => {
      const { mine, key } = stage();
      await mine.plainSemaphore(randomUUID()).tryAcquire(); // from here on the server knows the script
      await mine.plainSemaphore(key).trySetPermits(3);
    });

    it('that was aborted meanwhile', async () => {
      const { mine, key, proxy } = stage();
      const copy = proxy.strand(stage().isScript);
      const abort = new AbortController();
      const acquired = mine.plainSemaphore(key).acquire({ permits: 2, signal: abort.signal });
      const aborted = expect(acquired).rejects.toBeInstanceOf(LockAbortedError);
      await eventually('it is under way', () => copy.count);
      abort.abort();
      await aborted;
      copy.giveUp();
      await mine.close();
      expect(await free()).toBe('3');
      await stage().arrive(copy);
      expect(await free()).toBe('3');
    });

    it('that was aborted once it had its permits', async () => {
      const { mine, key, proxy } = stage();
      const copy = proxy.replay(stage().isScript);
      proxy.holdReplies();
      const abort = new AbortController();
      const acquired = mine.plainSemaphore(key).acquire({ permits: 2, signal: abort.signal });
      const aborted = expect(acquired).rejects.toBeInstanceOf(LockAbortedError);
      await eventually('they are taken', async () => (await free()) === '1');
      abort.abort();
      await aborted;
      proxy.resume();
      await eventually('they are back', async () => (await free()) === '3');
      await stage().arrive(copy);
      expect(await free()).toBe('3');
    });

    it('of which the release was sent twice', async () => {
      const { mine, key, proxy } = stage();
      proxy.holdReplies();
      const abort = new AbortController();
      const acquired = mine.plainSemaphore(key).acquire({ permits: 2, signal: abort.signal });
      const aborted = expect(acquired).rejects.toBeInstanceOf(LockAbortedError);
      await eventually('they are taken', async () => (await free()) === '1');
      abort.abort();
      await aborted;
      const copy = proxy.strand(stage().isScript);
      proxy.resume();
      await eventually('it is released', () => copy.count);
      copy.giveUp();
      await eventually('they are back', async () => (await free()) === '3');
      await stage().arrive(copy);
      expect(await free()).toBe('3');
    });
  });

  it('of a change that precedes many others of that client', async () => {
    const { mine, theirs, key } = stage();
    const semaphore = mine.plainSemaphore(key);
    await semaphore.trySetPermits(5);
    await semaphore.release();
    const [, copy] = await stage().late(() => semaphore.release());
    for (let n = 0; n < 50; n++) await semaphore.using(() => {});
    await stage().arrive(copy);
    expect(await theirs.plainSemaphore(key).availablePermits()).toBe(7);
  });
});
