import { expect, it } from '@jest/globals';
import { BarrierStateError, LockKeyError, LockOptionsError } from '../../lib/core/errors/index.js';
import type { DoubleBarrierStage } from './double-barrier-stage.js';
import type { Stage } from './stage.js';

/** Bad input, and calls out of turn. */
export function doubleBarrierMisuseSuite(stage: () => Stage, barriers: DoubleBarrierStage): void {
  it.each([0, -1, 1.5, NaN, Infinity, 2 ** 31, '2', undefined])(
    'cannot be made with %p members',
    (memberQty) => {
      const make = () => barriers.of(stage().mine, memberQty as number);
      expect(make).toThrow(LockOptionsError);
      expect(make).toThrow(/`memberQty`/);
    },
  );

  it('does not share its key with a barrier', () => {
    const { mine, key } = stage();
    barriers.of(mine, 2);
    expect(() => mine.locks.barrier(key)).toThrow(LockKeyError);
  });

  it.each([{ wait: 0 }, { wait: Infinity }, { wait: '5' }, { signal: {} }])(
    'refuses %p, and does nothing',
    async (options) => {
      const { mine } = stage();
      const barrier = barriers.of(mine, 1);
      const bad = options as { wait: number };
      await expect(barrier.enter(bad)).rejects.toBeInstanceOf(LockOptionsError);
      expect(mine.requests).toEqual([]);
      await barrier.enter({ wait: 60_000 });
      await expect(barrier.leave(bad)).rejects.toBeInstanceOf(LockOptionsError);
      await barrier.leave({ wait: 60_000 });
    },
  );

  it('cannot be left by a member that has not entered', async () => {
    const { mine } = stage();
    const barrier = barriers.of(mine, 1);
    await expect(barrier.leave()).rejects.toBeInstanceOf(BarrierStateError);
    expect(mine.requests).toEqual([]);
    await barrier.enter();
    await barrier.leave();
    await expect(barrier.leave()).rejects.toThrow(/cannot be left: this member is outside/);
  });

  it('cannot be entered by a member that has entered already', async () => {
    const { mine, key } = stage();
    const barrier = barriers.of(mine, 1);
    await barrier.enter();
    const twice = barrier.enter();
    await expect(twice).rejects.toBeInstanceOf(BarrierStateError);
    await expect(twice).rejects.toMatchObject({
      code: 'LOCK_BARRIER_STATE',
      key,
      client: 'contract',
    });
    await expect(twice).rejects.toThrow(/cannot be entered: this member is inside already/);
    await barrier.leave(); // it is still inside
  });

  it('can be neither entered nor left by a member on its way in', async () => {
    const { mine, theirs } = stage();
    const barrier = barriers.of(mine, 2);
    const { entered } = await barriers.come(barrier);
    await expect(barrier.enter()).rejects.toThrow(/is entering already/);
    await expect(barrier.leave()).rejects.toThrow(/is entering already/);
    expect(await barriers.members()).toHaveLength(1);
    await barriers.of(theirs, 2).enter({ wait: 60_000 });
    await entered;
  });

  it('can be neither entered nor left by a member on its way out', async () => {
    const { mine, theirs } = stage();
    const [barrier, other] = [barriers.of(mine, 2), barriers.of(theirs, 2)];
    await Promise.all([barrier.enter(), other.enter()]);
    const over = barrier.leave();
    await expect(barrier.enter()).rejects.toThrow(/is leaving already/);
    await expect(barrier.leave()).rejects.toThrow(/is leaving already/);
    await other.leave({ wait: 60_000 });
    await over;
  });
}
