import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { semaphore } from './locks/semaphore.js';
import { Scene } from './scene.js';
import { Timing } from './timing.js';
import type { Visit } from './visit.js';
import type { Visitor } from './visitor.js';

/** In all of these the judge checks that no client has too many permits, and that nothing is left behind. */
describe('A semaphore of two permits in an accident', () => {
  let scene: Scene;
  let world: Scene['world'];
  let ann: Visitor;
  let bob: Visitor;
  let cid: Visitor;

  beforeEach(async () => {
    scene = await Scene.set((world) => semaphore(world, 'a', 2));
    ({ world, ann, bob, cid } = scene);
    await scene.leave(bob, await scene.take(bob)); // its directories exist
  });
  afterEach(() => scene.end());

  it('has the token of the newest permit, even where that is the first one, created again', async () => {
    let created = 0;
    const isSecond = ({ op, path }: { op: string; path: string }) =>
      op === 'create' && path.includes('lease-') && ++created === 2;
    ann.client.network.once('unanswered', isSecond);
    const asked = ann.acquire({ permits: 2 }) as Promise<Visit>;
    await world.until(() => scene.queue.nodes.length === 2, Scene.SOON);
    const second = scene.queue.nodes[1]!;
    world.take(scene.queue.first!);
    const visit = await scene.soon(asked);
    const [older, newer] = scene.queue.nodes;
    expect(older).toBe(second);
    expect(await scene.soon(visit.lease.fencingToken())).toBe(BigInt(newer!.czxid));
    await scene.leave(ann, visit);
  });

  it('is lost as a whole when another client deletes one of its permits', async () => {
    const visit = (await scene.soon(ann.acquire({ permits: 2 }))) as Visit;
    const next = bob.acquire() as Promise<Visit>;
    await world.pass(Timing.watchAfter + Scene.SOON);
    world.take(scene.queue.first!);
    await world.pass(2 * Timing.latency);
    expect(scene.stateOf(visit)).toBe('lost');
    await scene.leave(bob, await scene.soon(next));
    expect(scene.queue.nodes).toHaveLength(1); // the other is hers until she leaves
    await scene.leave(ann, visit);
    expect(scene.queue.nodes).toEqual([]);
  });

  it('serves waiters in the order of arrival, also when the gate node of the first is deleted', async () => {
    const visit = (await scene.soon(ann.acquire({ permits: 2 }))) as Visit;
    const first = bob.acquire() as Promise<Visit>;
    await world.pass(Scene.SOON);
    const second = cid.acquire() as Promise<Visit>;
    await world.pass(Scene.SOON);
    world.take(scene.lock.gate!.first!);
    await world.pass(Scene.SOON);
    expect(scene.order).toEqual([ann, ann, cid]);
    await scene.leave(ann, visit);
    await scene.leave(cid, await scene.soon(second));
    await scene.leave(bob, await scene.soon(first));
  });

  it('is given up without a trace by a waiter with an unanswered create', async () => {
    const visit = (await scene.soon(ann.acquire({ permits: 2 }))) as Visit;
    bob.client.network.once(
      'unanswered',
      ({ op, path }) => op === 'create' && path.includes('lease-'),
    );
    expect(await scene.soon(bob.acquire({ wait: 100 }))).toBeUndefined();
    await world.pass(Scene.SOON);
    expect(scene.order).toEqual([ann, ann]);
    expect(scene.lock.gate!.nodes).toEqual([]);
    await scene.leave(ann, visit);
  });
});
