import { deepEqual, equal, ok, rejects, throws } from 'node:assert/strict';
import { LockOptionsError, LockTimeoutError } from '../../core/errors/index.js';
import type { LockClient } from '../../core/lock-client.js';
import {
  type ContractOptions,
  type ContractRunner,
  ContractStage,
  VisitedRoom,
} from './contract-stage.js';

/** Guarantees of `LockClient.semaphore`, as tests: no more permits than configured; see `mutexContract`. */
export function semaphoreContract(runner: ContractRunner, options: ContractOptions): void {
  const { describe, it } = runner;
  const { isShared = true } = options;
  describe('A semaphore', () => {
    const stage = ContractStage.of(runner, options);
    const pool = (client: LockClient, permits = 3) => client.semaphore(stage().key, { permits });
    const available = (count: number) =>
      stage().until(
        `${count} permits are available`,
        async () => (await pool(stage().mine).availablePermits()) === count,
      );

    counting('one client', () => stage().mine);
    if (isShared) counting('two clients', () => stage().theirs);

    it('lets all its permits be used, and no more', async () => {
      const { mine } = stage();
      const room = new VisitedRoom();
      const work = Array.from({ length: 20 }, () => pool(mine).using(() => room.visit()));
      await stage().soon('all have been inside', Promise.all(work));
      ok(room.mostAtOnce <= 3, `${room.mostAtOnce} were inside at once`);
      await available(3);
    });

    it('grants several permits together or none', async () => {
      const { mine } = stage();
      const two = await stage().soon('two are granted', pool(mine).acquire({ permits: 2 }));
      equal(await pool(mine).tryAcquire({ permits: 2 }), undefined);
      await available(1);
      await two.release();
      const three = await stage().soon('three are granted', pool(mine).acquire({ permits: 3 }));
      equal(await pool(mine).tryAcquire(), undefined);
      await three.release();
      await available(3);
    });

    it('grants another permit to a caller that already holds one', async () => {
      const { mine } = stage();
      await pool(mine).using(() => pool(mine).using(() => available(1)));
    });

    it('ends waits with LockTimeoutError, and nothing is left of them', async () => {
      const { mine } = stage();
      const all = await stage().soon('all are granted', pool(mine).acquire({ permits: 3 }));
      const wait = pool(mine).acquire({ wait: 30 });
      await stage().soon('the wait ends', rejects(wait, LockTimeoutError));
      await all.release();
      await available(3);
    });

    it('counts a release once', async () => {
      const { mine } = stage();
      const [first, second] = [await stage().take(pool(mine)), await stage().take(pool(mine))];
      await Promise.all([first.release(), first.release()]);
      deepEqual([first.isHeld, second.isHeld], [false, true]);
      await available(2);
    });

    it('rejects invalid numbers of permits, and more permits than it has: LockOptionsError', async () => {
      const { mine } = stage();
      for (const permits of [0, -1, 1.5, NaN]) throws(() => pool(mine, permits), LockOptionsError);
      for (const permits of [0, 4])
        await rejects(async () => await pool(mine).acquire({ permits }), LockOptionsError);
    });

    function counting(whose: string, second: () => LockClient): void {
      it(`counts the permits of ${whose}`, async () => {
        const { mine } = stage();
        const first = await stage().take(pool(mine));
        for (const client of [second(), mine]) await stage().take(pool(client));
        equal(await pool(second()).tryAcquire(), undefined);
        const { lease } = await stage().queue(second(), pool(second()));
        await first.release();
        const next = await stage().soon('the waiter is granted it', lease);
        equal(next.isHeld, true);
        equal(await pool(mine).tryAcquire(), undefined);
      });
    }
  });
}
