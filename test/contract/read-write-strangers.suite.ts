import { describe, expect, it } from '@jest/globals';
import { LockUpgradeError } from '../../lib/core/errors/index.js';
import { eventually } from '../support/eventually.js';
import { isSettled } from '../support/is-settled.js';
import { downgrade } from './downgrade.js';
import type { Stage } from './stage.js';

const HALVES = ['read', 'write'] as const;

/** What there is to a read/write lock on ZooKeeper because every waiter and every downgrade has a node of its own. */
export function readWriteStrangersSuite(stage: () => Stage): void {
  it.each(HALVES)(
    'is made again when another client deletes that of the waiting %s lock',
    async (half) => {
      const { mine, theirs, stranger, key, path } = stage();
      const holder = await mine.writeLock(key).acquire();
      const [ahead] = await stage().nodes();
      const { lease } = await stage().queueFor(theirs.half(half, key), theirs);
      await stage().caughtUp(theirs); // it waits, and its watches are set
      const own = (await stage().nodes()).find((node) => node !== ahead)!;
      await stranger.delete(`${path}/${own}`);
      await eventually('it has another node', async () => {
        const nodes = await stage().nodes();
        return nodes.length === 2 && !nodes.includes(own);
      });
      expect(await isSettled(lease)).toBe(false);
      await holder.release();
      await (await lease).release();
    },
  );

  it('lets the read go on when another client deletes that of a writer that reads on', async () => {
    const { mine, theirs, stranger, key } = stage();
    const { writer, reader } = await downgrade(mine, key);
    const { lease: queued } = await stage().queueFor(theirs.writeLock(key), theirs);
    const { signal } = writer;
    await stranger.delete(writer.paths[0]!);
    await eventually('the signal of the writer aborts', () => signal.aborted);
    await stage().caughtUp(theirs);
    expect([writer.isHeld, reader.isHeld, await isSettled(queued)]).toEqual([false, true, false]);
    await Promise.all([writer.release(), reader.release()]);
    await (await queued).release();
  });

  it('is deleted by another client as a writer begins to read: the writer does not read, or does and goes on', async () => {
    const { mine, theirs, stranger, key } = stage();
    const lock = mine.locks.readWriteLock(key);
    const writer = await lock.writeLock().acquire();
    await writer.fencingToken(); // it watches its node, so it need not look before it asks
    const { lease: queued } = await stage().queueFor(theirs.writeLock(key), theirs);
    stage().freeze();
    const deleting = stranger.delete(writer.paths[0]!);
    const trying = writer.run(() => lock.readLock().tryAcquire());
    stage().thaw();
    await deleting;
    const reader = await trying;
    await stage().caughtUp(theirs);
    expect(await isSettled(queued)).toBe(reader === undefined);
    await reader?.release();
    await (await queued).release();
    await writer.release();
  });

  it('has, for a downgrade, the number of the writer, so that it takes no place behind those that queue', async () => {
    const { mine, stranger, key, path } = stage();
    const { writer, reader } = await downgrade(mine, key);
    const nodes = (await stage().nodes()).sort(byHalf);
    expect(nodes).toEqual([
      expect.stringMatching(/^_c_[0-9a-f-]{36}-__READ__0000000000$/),
      expect.stringMatching(/^_c_[0-9a-f-]{36}-__WRIT__0000000000$/),
    ]);
    const { stat } = await stranger.getData(`${path}/${nodes[0]}`);
    expect(stat.ephemeralOwner).toBe(mine.connection.session!.id);
    await writer.release();
    await reader.release();
    expect(await stage().nodes()).toEqual([]);
  });

  describe('costs no more than it has to', () => {
    it.each(HALVES)('no watch for a tryAcquire of the %s lock', async (half) => {
      const { mine, theirs, key } = stage();
      await using _ = await theirs.writeLock(key).acquire();
      expect(await mine.half(half, key).tryAcquire()).toBeUndefined();
      expect(mine.requests.filter((request) => 'watch' in request && request.watch)).toEqual([]);
    });

    it('no node for an upgrade that names the lock by its path, which is refused too', async () => {
      const { mine, key, path } = stage();
      await mine.readLock(key).using(async () => {
        const refused = mine.writeLock(path).acquire();
        await expect(refused).rejects.toBeInstanceOf(LockUpgradeError);
        expect(await stage().nodes()).toHaveLength(1);
      });
    });
  });
}

/** Readers before writers. */
function byHalf(a: string, b: string): number {
  return a.slice(-18) < b.slice(-18) ? -1 : 1;
}
