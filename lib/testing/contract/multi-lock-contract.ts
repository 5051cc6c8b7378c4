import { deepEqual, equal, rejects, throws } from 'node:assert/strict';
import { LockOptionsError, LockTimeoutError } from '../../core/errors/index.js';
import type { LockClient } from '../../core/lock-client.js';
import {
  type ContractOptions,
  type ContractRunner,
  ContractStage,
  VisitedRoom,
} from './contract-stage.js';

/** Guarantees of `LockClient.multiLock` for mutexes, as tests: all or none, and no circular waits; see `mutexContract`. */
export function multiLockContract(runner: ContractRunner, options: ContractOptions): void {
  const { describe, it } = runner;
  describe('A multi-lock', () => {
    const stage = ContractStage.of(runner, options);
    const part = (name: string) => stage().mine.mutex(`${stage().key}-${name}`);
    const multi = (client: LockClient, ...names: string[]) =>
      client.multiLock(names.map((name) => client.mutex(`${stage().key}-${name}`)));

    it('holds all of its parts until it is released', async () => {
      const lease = await stage().take(multi(stage().mine, 'a', 'b'));
      equal(lease.isHeld, true);
      const attempts = [await part('a').tryAcquire(), await part('b').tryAcquire()];
      deepEqual(attempts, [undefined, undefined]);
      await lease.release();
      equal(lease.isHeld, false);
      for (const name of ['a', 'b']) await (await stage().take(part(name))).release();
    });

    it('holds none of its parts if one is taken', async () => {
      const { mine } = stage();
      const taken = await stage().take(part('b'));
      equal(await multi(mine, 'a', 'b', 'c').tryAcquire(), undefined);
      const wait = multi(mine, 'a', 'b', 'c').acquire({ wait: 50 });
      await stage().soon('the wait ends', rejects(wait, LockTimeoutError));
      for (const name of ['a', 'c']) await (await stage().take(part(name))).release();
      equal(taken.isHeld, true);
    });

    it('waits for the part that is taken', async () => {
      const taken = await stage().take(part('b'));
      let isGranted = false;
      const all = multi(stage().mine, 'a', 'b').acquire();
      const granted = all.then(() => (isGranted = true));
      await part('c').using(() => part('d').using(() => {})); // enough time for a wrong grant
      equal(isGranted, false);
      await taken.release();
      await stage().soon('it is granted', granted);
      equal((await all).isHeld, true);
    });

    it('never waits in a circle, in whatever order its parts are named', async () => {
      const { mine } = stage();
      const orders = [
        ['a', 'b', 'c'],
        ['c', 'b', 'a'],
        ['b', 'c', 'a'],
      ];
      const room = new VisitedRoom();
      const work = [...orders, ...orders].map((names) =>
        multi(mine, ...names).using(() => room.visit()),
      );
      await stage().soon('all have been inside', Promise.all(work));
      deepEqual([room.visits, room.mostAtOnce], [6, 1]);
    });

    it('lets its parts be re-entered', async () => {
      const { mine } = stage();
      const nested = multi(mine, 'a', 'b').using(() => part('b').using(() => 'inside'));
      equal(await stage().soon('it is entered', nested), 'inside');
    });

    it('rejects an empty list of parts: LockOptionsError', async () => {
      throws(() => stage().mine.multiLock([]), LockOptionsError);
    });
  });
}
