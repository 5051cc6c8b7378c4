import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mutexes } from './locks.js';
import { Scene } from './scene.js';

const KEPT = { atMost: 10, for: 1_000, keep: 1_000 };

describe('A mutex that is kept for the next caller', () => {
  let scene: Scene;

  beforeEach(async () => {
    scene = await Scene.set((world) => mutexes(world, 'a', KEPT).handedOn);
    await scene.leave(scene.ann, await scene.take(scene.ann));
  });
  afterEach(() => scene.end());

  it('is not refused to one who may not wait when its time is over, though no timer has fired', async () => {
    const { world, ann } = scene;
    const thaw = ann.client.freeze(false);
    await world.pass(2 * KEPT.keep);
    expect(scene.order).toEqual([ann]);
    const late = ann.tryAcquire();
    thaw('timer');
    const visit = await scene.soon(late);
    await scene.leave(ann, visit!);
  });
});
