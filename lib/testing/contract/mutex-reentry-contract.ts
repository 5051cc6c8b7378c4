import { deepEqual, equal, rejects } from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { currentLease } from '../../core/internal/lease-scope.js';
import { LockTimeoutError } from '../../core/errors/index.js';
import type { ContractRunner } from './contract-runner.js';
import type { ContractStage } from './contract-stage.js';

/** Re-entry follows the async call tree: an acquire inside of a live lease of the same lock. */
export function mutexReentryContract({ it }: ContractRunner, stage: () => ContractStage): void {
  it('inside of `using`, as deep as one likes', async () => {
    const { mine, key } = stage();
    const mutex = mine.mutex(key);
    const depth = mutex.using(() => mutex.using(() => mine.mutex(key).using(async () => 3)));
    equal(await stage().soon('three have entered', depth), 3);
  });

  it('inside of `run`, and not outside', async () => {
    const { mine, key } = stage();
    const lease = await stage().take(mine.mutex(key));
    equal(await mine.mutex(key).tryAcquire(), undefined);
    await lease.run(async () => {
      equal(currentLease(), lease);
      const again = await stage().take(mine.mutex(key));
      equal(again.isHeld, true);
      await again.release();
    });
    equal(lease.isHeld, true);
  });

  it('and is held until the last of its leases is released', async () => {
    const { mine, key } = stage();
    const mutex = mine.mutex(key);
    const inner = await mutex.using(() => stage().take(mutex));
    equal(inner.isHeld, true);
    equal(await mutex.tryAcquire(), undefined);
    await inner.release();
    await (await stage().take(mutex)).release();
  });

  it('not by siblings, who exclude each other', async () => {
    const { mine, key } = stage();
    const mutex = mine.mutex(key);
    const story: string[] = [];
    const work = (name: string) =>
      mutex.using(async () => {
        story.push(`${name} enters`);
        await mutex.using(() => nextTurn());
        story.push(`${name} leaves`);
      });
    await stage().soon('both have worked', Promise.all([work('a'), work('b')]));
    const [first, second] = story[0] === 'a enters' ? ['a', 'b'] : ['b', 'a'];
    deepEqual(story, [
      `${first} enters`,
      `${first} leaves`,
      `${second} enters`,
      `${second} leaves`,
    ]);
  });

  it('not where it is a semaphoreMutex', async () => {
    const { mine, key } = stage();
    const mutex = mine.semaphoreMutex(key);
    const nested = mutex.using(async () => {
      equal(await mutex.tryAcquire(), undefined);
      await rejects(mutex.acquire({ wait: 20 }), LockTimeoutError);
      return 'outer';
    });
    equal(await stage().soon('the nested wait ends', nested), 'outer');
  });
}
