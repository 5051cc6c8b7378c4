import { expect, it } from '@jest/globals';
import {
  BarrierStateError,
  LockKeyError,
  LockLostError,
  LockOptionsError,
  LockTimeoutError,
} from '../../lib/core/errors/index.js';
import { isSettled } from '../support/time.js';
import type { DoubleBarrierStage } from './backends/recipes.js';
import type { Stage } from './backends/zookeeper.js';

/** Crashes, lost connections and lost sessions. */
export function doubleBarrierFaultsSuite(stage: () => Stage, barriers: DoubleBarrierStage): void {
  it('keeps a member waiting for the others when the servers crash', async () => {
    const { mine, theirs } = stage();
    const first = await barriers.come(barriers.of(mine, 2));
    await stage().down();
    await stage().up();
    await barriers.expectWaiting(mine, first.entered);
    expect(await barriers.members()).toEqual([first.name]);
    await barriers.of(theirs, 2).enter({ wait: 60_000 });
    await first.entered;
  });

  it('rejects a member that comes while the servers are away when its time is over, and keeps nothing of it', async () => {
    const { mine } = stage();
    await stage().down();
    const late = barriers.of(mine, 1).enter({ wait: 100 });
    await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
    await stage().up();
    await stage().caughtUp(mine);
    await barriers.expectEmpty();
  });

  it('keeps a member inside when the servers crash, and waits for it', async () => {
    const { mine, theirs } = stage();
    const [ours, other] = [barriers.of(mine, 2), barriers.of(theirs, 2)];
    await Promise.all([ours.enter(), other.enter()]);
    const over = ours.leave();
    await barriers.expectWaiting(mine, over);
    await stage().down();
    await stage().up();
    await barriers.expectWaiting(mine, over);
    await other.leave({ wait: 60_000 });
    await over;
    await barriers.expectEmpty();
  });

  it('lets an entering member come again in the next session when one has ended', async () => {
    const { mine, theirs } = stage();
    const first = await barriers.come(barriers.of(mine, 2));
    await stage().expire(mine);
    await barriers.becomes(1);
    await barriers.expectWaiting(mine, first.entered);
    await barriers.of(theirs, 2).enter({ wait: 60_000 });
    await first.entered;
  });

  it('rejects leave() with LockLostError when a member has lost its session inside, and lets it come again', async () => {
    const { mine, theirs } = stage();
    const [ours, other] = [barriers.of(mine, 2), barriers.of(theirs, 2)];
    await Promise.all([ours.enter(), other.enter()]);
    await stage().expire(mine);
    await other.leave({ wait: 60_000 }); // it waits for no member that is gone
    const lost = ours.leave();
    await expect(lost).rejects.toBeInstanceOf(LockLostError);
    await expect(lost).rejects.toThrow(/its session ended/);
    const again = await barriers.come(ours);
    await barriers.expectWaiting(mine, again.entered);
    await other.enter({ wait: 60_000 });
    await again.entered;
  });

  it('keeps a member that loses its session while it leaves waiting for the others', async () => {
    const { mine, theirs } = stage();
    const [ours, other] = [barriers.of(mine, 2), barriers.of(theirs, 2)];
    await Promise.all([ours.enter(), other.enter()]);
    const over = ours.leave();
    await barriers.expectWaiting(mine, over);
    await stage().expire(mine);
    await barriers.expectWaiting(mine, over);
    await other.leave({ wait: 60_000 });
    await over;
    await barriers.expectEmpty();
  });

  it('rejects leave() with LockLostError when another client has thrown the member out', async () => {
    const { mine, stranger, path } = stage();
    const barrier = barriers.of(mine, 1);
    await barrier.enter();
    const [name] = await barriers.members();
    await stranger.delete(`${path}/${name}`);
    await stage().caughtUp(mine);
    const lost = barrier.leave();
    await expect(lost).rejects.toBeInstanceOf(LockLostError);
    await expect(lost).rejects.toThrow(/its node was deleted/);
  });

  it('makes the next members wait for each other when all are gone with their sessions', async () => {
    const { mine, theirs } = stage();
    await Promise.all([barriers.of(mine, 2).enter(), barriers.of(theirs, 2).enter()]);
    await stage().expire(mine);
    await stage().expire(theirs);
    expect(await stage().nodes()).toEqual(['ready']);
    const next = await barriers.come(barriers.of(mine, 2));
    await barriers.expectWaiting(mine, next.entered);
    await barriers.of(theirs, 2).enter({ wait: 60_000 });
    await next.entered;
  });

  it('is closed by the last member when the last but one crashes', async () => {
    const { mine, theirs } = stage();
    const [ours, other] = [barriers.of(mine, 2), barriers.of(theirs, 2)];
    await Promise.all([ours.enter(), other.enter()]);
    const over = ours.leave();
    await barriers.expectWaiting(mine, over);
    await stage().expire(theirs);
    await over;
    await barriers.expectEmpty();
    expect(await isSettled(over)).toBe(true);
  });
}

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
