import { expect, it } from '@jest/globals';
import { LockLostError, LockTimeoutError } from '../../lib/core/errors/index.js';
import { isSettled } from '../support/is-settled.js';
import type { DoubleBarrierStage } from './double-barrier-stage.js';
import type { Stage } from './stage.js';

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
