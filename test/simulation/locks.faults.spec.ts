import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { LOCK_INSPECTION } from '../../lib/core/lock-inspection.js';
import type { PeerReports } from '../../lib/core/peer-reports.js';
import { multiLock, mutex, readWriteLock, semaphore, type SimulatedLock } from './locks.js';
import type { Visit } from './operation.js';
import { Scene } from './scene.js';
import { Timing } from './timing.js';
import { Visitor } from './guests.js';

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

  it('has a reader queue like any other, once the node of its writer was not found', async () => {
    const writing = await scene.take(ann);
    let creates = 0;
    world.onSent = ({ name }, { op }) =>
      void (creates += Number(name === ann.client.name && op === 'create'));
    const asked = downgrade(writing);
    world.take(scene.queue.first!);
    const reading = await scene.soon(asked);
    expect(creates).toBe(2);
    await scene.leave(annReads, reading);
    await scene.leave(ann, writing);
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

  const annTakesBoth = () => scene.soon(ann.acquire({ permits: 2 }) as Promise<Visit>);

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
    const visit = await annTakesBoth();
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
    const visit = await annTakesBoth();
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
    const visit = await annTakesBoth();
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

describe('A client that was asked for its waits, and could not answer', () => {
  it('leaves no timer when it is closed before it tries again', async () => {
    const scene = await Scene.set();
    const { world, ann, bob } = scene;
    const exchangeOf = ({ client }: Visitor) =>
      client.locks[LOCK_INSPECTION].exchange(
        { reportSize: 1_000, processes: 10 },
        'deadlocks',
      ) as PeerReports;
    const [asked, asking] = [exchangeOf(ann), exchangeOf(bob)];
    const report = jest.fn<() => string>().mockImplementation(() => {
      throw new Error('too large');
    });
    await world.wait(asking.ask(0)); // creates what is watched
    asked.answer(report);
    await world.pass(Scene.SOON);
    await world.wait(asking.ask(0));
    await world.until(() => report.mock.calls.length > 0, Scene.SOON);
    await world.wait(Promise.all([asked.close(), asking.close()]));
    await scene.end();
  });
});
