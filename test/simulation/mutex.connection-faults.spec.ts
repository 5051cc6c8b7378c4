import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Scene } from './scene.js';
import { Timing } from './timing.js';
import type { Visitor } from './visitor.js';

const { SOON } = Scene;

/** In all of these the judge checks that there is no other holder, and that nothing is left behind. */
describe('A mutex with a connection that is cut', () => {
  let scene: Scene;
  let world: Scene['world'];
  let ann: Visitor;
  let bob: Visitor;
  let cid: Visitor;

  beforeEach(async () => {
    scene = await Scene.set();
    ({ world, ann, bob, cid } = scene);
  });
  afterEach(() => scene.end());

  it.each([
    ['and arrived', 'processed'],
    ['and is lost', 'lost'],
  ] as const)('has one node, and is granted, when its create was sent %s', async (_, unread) => {
    await scene.leave(bob, await scene.take(bob)); // the directory exists
    scene.cutAfterSending('create', ann, unread);
    const visit = await scene.take(ann);
    expect(scene.order).toEqual([ann]);
    await scene.leave(ann, visit);
    expect(scene.order).toEqual([]);
  });

  it('has one node, and waits in its place, when the reply to its create is lost', async () => {
    const visit = await scene.take(ann);
    bob.client.network.once('unanswered', ({ op }) => op === 'create');
    const first = await scene.wait(bob);
    const second = await scene.wait(cid);
    expect(scene.order).toEqual([ann, bob, cid]);
    await scene.leave(ann, visit);
    await scene.leave(bob, await scene.soon(first.visit));
    await scene.soon(second.visit);
  });

  it('leaves no node when it is given up before the lost reply is known', async () => {
    await scene.leave(ann, await scene.take(ann)); // the directory exists
    bob.client.network.once('unanswered', ({ op }) => op === 'create');
    expect(await scene.soon(bob.acquire({ wait: 30 }))).toBeUndefined();
    expect(scene.order).toEqual([bob]);
    await world.pass(SOON);
    expect(scene.order).toEqual([]);
  });

  it('is free again when the reply to the removal is lost', async () => {
    const visit = await scene.take(ann);
    const next = await scene.wait(bob);
    scene.cutAfterSending('delete', ann, 'lost');
    await scene.leave(ann, visit);
    await scene.soon(next.visit);
  });

  it('still notices a deletion by another client when its waiter had lost the connection', async () => {
    const visit = await scene.take(ann);
    const next = await scene.wait(bob);
    bob.client.cut();
    await scene.leave(ann, visit);
    const after = await scene.soon(next.visit);
    await world.pass(SOON);
    world.take(after.hold.nodes[0]!);
    await world.pass(Timing.latency);
    expect(scene.stateOf(after)).toBe('lost');
  });
});
