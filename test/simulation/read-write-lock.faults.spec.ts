import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readWriteLock } from './locks/read-write-lock.js';
import { Scene } from './scene.js';
import type { SimulatedLock } from './simulated-lock.js';
import type { Visit } from './visit.js';
import { Visitor } from './visitor.js';

/** In all of these the judge checks which nodes may hold together, in what order, and that nothing is left. */
describe('A read/write lock in an accident', () => {
  let scene: Scene;
  let world: Scene['world'];
  let read: SimulatedLock;
  /** Ann and Bob write; Ann and Cid read. */
  let ann: Visitor;
  let annReads: Visitor;
  let bob: Visitor;
  let cid: Visitor;

  beforeEach(async () => {
    scene = await Scene.set((world) => {
      const both = readWriteLock(world, 'a');
      read = both.read;
      return both.write;
    });
    ({ world, ann, bob } = scene);
    annReads = new Visitor(world.judge, ann.client, read);
    cid = new Visitor(world.judge, scene.cid.client, read);
  });
  afterEach(() => scene.end());

  /** Ann asks for the read lock in the scope of her write lock. */
  const downgrade = (visit: Visit) =>
    visit.lease.run(() => annReads.acquire({}, visit) as Promise<Visit>);

  it("keeps a waiting writer out of a downgrade, even where the downgrade's reply is lost", async () => {
    const writing = await scene.take(ann);
    const next = await scene.wait(bob);
    ann.client.network.once('unanswered', ({ op }) => op === 'create');
    const reading = await scene.soon(downgrade(writing));
    await scene.leave(ann, writing);
    await world.pass(Scene.SOON);
    expect(scene.order).toEqual([ann, bob]);
    await scene.leave(annReads, reading);
    await scene.leave(bob, await scene.soon(next.visit));
  });

  it('makes a reader wait like any other if its writer is released before its create arrives', async () => {
    const writing = await scene.take(ann);
    const next = await scene.wait(bob);
    scene.cutAfterSending('create', ann, 'lost');
    const asked = downgrade(writing);
    await world.until(() => !ann.client.connection.isConnected, Scene.SOON);
    const gone = ann.release(writing);
    const visit = await scene.soon(next.visit);
    await scene.soon(gone);
    await world.pass(Scene.SOON);
    expect(scene.order).toEqual([bob, ann]);
    await scene.leave(bob, visit);
    await scene.leave(annReads, await scene.soon(asked));
  });

  it('lets the readers in when the node of the writer between them is deleted, and that writer queue again', async () => {
    const anns = await scene.soon(annReads.acquire() as Promise<Visit>);
    const next = await scene.wait(bob);
    const last = await scene.wait(cid);
    world.take(scene.queue.nodes[1]!);
    const cids = await scene.soon(last.visit);
    await world.pass(Scene.SOON);
    expect(scene.order).toEqual([ann, scene.cid, bob]);
    await scene.leave(annReads, anns);
    await scene.leave(cid, cids);
    await scene.leave(bob, await scene.soon(next.visit));
  });

  it('is lost to all readers of a client when its session ends, and the writer gets in', async () => {
    const visits = [
      await scene.soon(annReads.acquire() as Promise<Visit>),
      await scene.soon(annReads.acquire() as Promise<Visit>),
    ];
    const next = await scene.wait(bob);
    world.expire(ann.client);
    await scene.leave(bob, await scene.soon(next.visit));
    await world.pass(Scene.SOON);
    expect(visits.map((visit) => scene.stateOf(visit))).toEqual(['lost', 'lost']);
  });
});
