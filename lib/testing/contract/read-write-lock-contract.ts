import { deepEqual, equal, rejects } from 'node:assert/strict';
import { LockTimeoutError, LockUpgradeError } from '../../core/errors/index.js';
import type { LockClient } from '../../core/lock-client.js';
import {
  type ContractOptions,
  type ContractRunner,
  ContractStage,
  VisitedRoom,
} from './contract-stage.js';

/** Guarantees of `LockClient.readWriteLock`, as tests: many readers or one writer, over all clients; see `mutexContract`. */
export function readWriteLockContract(runner: ContractRunner, options: ContractOptions): void {
  const { describe, it } = runner;
  const { isShared = true } = options;
  describe('A read/write lock', () => {
    const stage = ContractStage.of(runner, options);
    const read = (client: LockClient) => client.readWriteLock(stage().key).readLock();
    const write = (client: LockClient) => client.readWriteLock(stage().key).writeLock();

    sharing('one client', () => stage().mine);
    if (isShared) sharing('two clients', () => stage().theirs);

    it('loses no update of writers, with readers in between', async () => {
      const { mine } = stage();
      const room = new VisitedRoom();
      const seen: number[] = [];
      const work = Array.from({ length: 8 }, (_, turn) =>
        turn % 2 === 0
          ? write(mine).using(() => room.visit())
          : read(mine).using(() => void seen.push(room.mostAtOnce)),
      );
      await stage().soon('all have been inside', Promise.all(work));
      deepEqual([room.visits, room.mostAtOnce, seen.length], [4, 1, 4]);
    });

    it('ends waits with LockTimeoutError, and nothing is left of them', async () => {
      const { mine } = stage();
      const writer = await stage().take(write(mine));
      const wait = 30;
      for (const lock of [read(mine), write(mine)])
        await stage().soon('it ends', rejects(lock.acquire({ wait }), LockTimeoutError));
      await writer.release();
      await (await stage().take(write(mine))).release();
    });

    it('is re-entered by either half, and lets its writer read', async () => {
      const { mine } = stage();
      const nested = write(mine).using(() =>
        write(mine).using(() => read(mine).using(() => 'deep')),
      );
      equal(await stage().soon('all have entered', nested), 'deep');
      const readers = read(mine).using(() => read(mine).using(() => 'deep'));
      equal(await stage().soon('all have entered', readers), 'deep');
    });

    it('stays held as a read lock if the writer reads and releases the write lock', async () => {
      const { mine } = stage();
      const writer = await stage().take(write(mine));
      const reader = await writer.run(() => stage().take(read(mine)));
      await writer.release();
      equal(reader.isHeld, true);
      equal(await write(mine).tryAcquire(), undefined);
      await (await stage().take(read(mine))).release();
      await reader.release();
      await (await stage().take(write(mine))).release();
    });

    it('rejects the write lock inside the read lock, where it would wait for itself: LockUpgradeError', async () => {
      const { mine } = stage();
      await read(mine).using(async () => {
        await stage().soon('it is refused', rejects(write(mine).acquire(), LockUpgradeError));
      });
      await (await stage().take(write(mine))).release();
    });

    function sharing(whose: string, second: () => LockClient): void {
      it(`is shared by readers of ${whose}, and never with a writer`, async () => {
        const { mine } = stage();
        const readers = [await stage().take(read(mine)), await stage().take(read(second()))];
        deepEqual(
          readers.map(({ isHeld }) => isHeld),
          [true, true],
        );
        equal(await write(second()).tryAcquire(), undefined);
        const { lease } = await stage().queue(second(), write(second()));
        for (const reader of readers) await reader.release();
        const writer = await stage().soon('the writer is granted it', lease);
        equal(await read(mine).tryAcquire(), undefined);
        equal(await write(mine).tryAcquire(), undefined);
        const { lease: next } = await stage().queue(mine, read(mine));
        await writer.release();
        await (await stage().soon('the reader is granted it', next)).release();
      });
    }
  });
}
