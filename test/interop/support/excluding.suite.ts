import { expect, it } from '@jest/globals';
import type { Stage } from './stage.js';

/** A lock with one holder at a time. */
export interface ExcludingLock {
  lock(path: string): string;
  /** Where the waiters have their nodes. */
  queue(path: string): string;
  /** How many nodes a holder has there. */
  readonly nodesOfHolder: 0 | 1;
}

/** What such a lock promises, whichever language comes first. */
export function excludingSuite(stage: Stage, recipe: ExcludingLock): void {
  const waiting = (count: number) =>
    stage.stranger.queue(recipe.queue(stage.path), recipe.nodesOfHolder + count);

  it.each(stage.ways)('excludes all others while $title', async ({ first, second }) => {
    const lock = recipe.lock(stage.path);
    const [holder, waiter] = [first().actor(), second().actor()];
    expect(await holder.acquire(lock)).toBe(true);
    expect(await waiter.acquire(lock, { wait: 300 })).toBe(false);

    const granted = waiter.acquire(lock);
    await waiting(1);
    await holder.release(lock);
    expect(await granted).toBe(true);
    expect(await holder.acquire(lock, { wait: 300 })).toBe(false);
    await waiter.release(lock);
    expect(await holder.acquire(lock)).toBe(true);
  });

  it('is granted in the order of the queue', async () => {
    const lock = recipe.lock(stage.path);
    const { node, other } = stage;
    const holder = node.actor();
    await holder.acquire(lock);
    const order: number[] = [];
    const served: Promise<unknown>[] = [];
    for (const [place, peer] of [other, node, other, other, node, node].entries()) {
      const waiter = peer.actor();
      const granted = waiter.acquire(lock).then((isGranted) => isGranted && order.push(place));
      served.push(granted.then(() => waiter.release(lock)));
      await waiting(place + 1);
    }
    await holder.release(lock);
    await Promise.all(served);
    expect(order).toEqual([0, 1, 2, 3, 4, 5]);
  });
}
