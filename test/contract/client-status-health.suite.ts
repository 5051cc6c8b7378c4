import { expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import type { LockStage } from './lock-stage.js';

/**
 * How it is, from the connection to the closing.
 *
 * @param suspended health while no server can be reached and the locks may still be held
 * @param sessionId of `mine`, where it has one
 */
export function clientHealthSuite(
  stage: () => LockStage,
  suspended: 'degraded' | 'down',
  sessionId: () => string | undefined,
): void {
  it('is up while it is connected', () => {
    const { mine } = stage();
    expect(mine.locks.status()).toMatchObject({ health: 'up', state: 'CONNECTED' });
    expect(mine.locks.status().sessionId).toBe(sessionId());
  });

  it(`is ${suspended} while the servers are away, and up when they are back, with what it held`, async () => {
    const { mine, key } = stage();
    const lease = await mine.lock(key).acquire();
    await stage().down();
    expect(mine.locks.status()).toMatchObject({ health: suspended, state: 'SUSPENDED', held: 1 });
    await stage().up();
    await eventually('it is up', () => mine.locks.status().health === 'up');
    expect(mine.locks.status()).toMatchObject({ held: 1, waiting: 0 });
    await lease.release();
  });

  it('is up while it only refuses, and down once it closes, with nothing held', async () => {
    const { mine, theirs, key } = stage();
    await using _ = await theirs.lock(`${key}-theirs`).acquire();
    await mine.lock(key).acquire();
    const { lease } = await stage().queueFor(mine.lock(`${key}-theirs`), mine);
    mine.locks.refuse();
    await Promise.allSettled([lease]);
    expect(mine.locks.status()).toMatchObject({ health: 'up', held: 1, waiting: 0 });

    const closing = mine.locks.close();
    expect(mine.locks.status()).toMatchObject({ health: 'down', state: 'CLOSED' });
    await closing;
    expect(mine.locks.status()).toMatchObject({
      health: 'down',
      state: 'CLOSED',
      held: 0,
      waiting: 0,
    });
    expect(mine.locks.activity()).toEqual([]);
  });
}
