import { expect, it } from '@jest/globals';
import { Deferred } from '../support/deferred.js';
import { isSettled } from '../support/is-settled.js';
import type { LockStage } from './lock-stage.js';

/** The locks that the function of a selector runs in, on any backend. */
export function leaderSelectorScopeSuite(stage: () => LockStage): void {
  it('does not run in the locks of the caller that started the selector', async () => {
    const { mine, key } = stage();
    const isLeading = new Deferred();
    const isEntered = new Deferred();
    const lock = mine.locks.mutex(`${key}-of-the-starter`);
    const selector = mine.locks.leaderSelector(key, async () => {
      isLeading.resolve();
      await lock.using(() => isEntered.resolve());
    });
    await lock.using(async () => {
      selector.start();
      await isLeading.promise;
      await stage().caughtUp(mine);
      expect(await isSettled(isEntered.promise)).toBe(false);
    });
    await isEntered.promise;
    await selector.close();
  });
}
