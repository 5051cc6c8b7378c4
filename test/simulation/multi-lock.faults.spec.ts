import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { multiLock } from './locks/multi-lock.js';
import { mutex } from './locks/mutex.js';
import { Scene } from './scene.js';
import type { SimulatedLock } from './simulated-lock.js';
import { Timing } from './timing.js';
import type { Visit } from './visit.js';
import { Visitor } from './visitor.js';

/** In all of these the judge checks that no part is kept, and that nothing is left behind. */
describe('A multi-lock in an accident', () => {
  let scene: Scene;
  let world: Scene['world'];
  let ann: Visitor;
  let a: SimulatedLock;
  let b: SimulatedLock;
  let bobsB: Visitor;

  beforeEach(async () => {
    scene = await Scene.set((world) => multiLock(world, [mutex(world, 'a'), mutex(world, 'b')]));
    ({ world, ann } = scene);
    [a, b] = scene.lock.parts as [SimulatedLock, SimulatedLock];
    bobsB = new Visitor(world.judge, scene.bob.client, b);
  });
  afterEach(() => scene.end());

  /** Bob has the second part, Ann waits for it; then another client deletes the node of her first. */
  async function losesFirstPart(wait?: number): Promise<{ bobs: Visit; asked: Promise<Visit> }> {
    const bobs = await scene.take(bobsB);
    const asked = ann.acquire({ wait }) as Promise<Visit>;
    await world.until(() => b.queue!.nodes.length === 2, 2 * Scene.SOON);
    await world.pass(Timing.watchAfter + Scene.SOON);
    world.take(a.queue!.first!);
    await world.pass(Scene.SOON);
    return { bobs, asked };
  }

  it('starts over when the first part is lost while it waits for the second', async () => {
    const { bobs, asked } = await losesFirstPart();
    await scene.leave(bobsB, bobs);
    const visit = await scene.soon(asked);
    expect([a, b].map(({ queue }) => queue!.nodes.length)).toEqual([1, 1]);
    await scene.leave(ann, visit);
  });

  it('returns at its deadline, even where the release of a part meanwhile is not answered', async () => {
    const { bobs, asked } = await losesFirstPart(2_000);
    let thaw = () => {};
    world.onSent = ({ name }, { op }) => {
      if (name !== ann.client.name || op !== 'delete') return;
      world.onSent = () => {};
      thaw = world.freezeServer();
    };
    await scene.leave(bobsB, bobs);
    expect(await world.wait(asked, 2_000)).toBeUndefined();
    thaw();
  });

  it('is lost as a whole, and kept in part until it is released, when one part is lost', async () => {
    const visit = await scene.take(ann);
    await world.pass(Timing.watchAfter + Scene.SOON);
    world.take(a.queue!.first!);
    await world.pass(Timing.latency);
    expect(scene.stateOf(visit)).toBe('lost');
    expect(b.queue!.nodes).toHaveLength(1);
    await scene.leave(ann, visit);
    expect(b.queue!.nodes).toEqual([]);
  });
});
