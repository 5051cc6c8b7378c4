import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Scene } from './scene.js';
import { Timing } from './timing.js';
import type { Visitor } from './guests.js';

const { SESSION_TIMEOUT, SOON } = Scene;

/** In all of these the judge checks that there is no other holder, and that nothing is left behind. */
describe('A mutex in an accident', () => {
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

  const annHoldsAndBobWaits = async () => ({
    visit: await scene.take(ann),
    next: await scene.wait(bob),
  });

  describe('of the server', () => {
    it('stays held, with no loss reported, while it is frozen for less than the session timeout', async () => {
      const visit = await scene.take(ann);
      const thaw = world.freezeServer();
      await world.pass(0.8 * SESSION_TIMEOUT);
      thaw();
      await world.pass(SESSION_TIMEOUT);
      expect(scene.stateOf(visit)).toBe('held');
    });

    it('is lost before another client gets it when the server is frozen for longer', async () => {
      const { visit, next } = await annHoldsAndBobWaits();
      const thaw = world.freezeServer();
      await world.pass(1.5 * SESSION_TIMEOUT);
      expect(scene.stateOf(visit)).toBe('lost');
      thaw();
      const { hold } = await scene.later(next.visit);
      expect(visit.hold.lostAt).toBeLessThan(hold.grantedAt);
    });

    it('is lost before another client gets it when only its holder cannot reach the server', async () => {
      const { visit, next } = await annHoldsAndBobWaits();
      const heal = ann.client.partition();
      const { hold } = await scene.later(next.visit);
      expect(visit.hold.lostAt).toBeLessThan(hold.grantedAt);
      heal();
      await scene.connected(ann);
      expect(scene.stateOf(visit)).toBe('lost');
    });

    it('stays held, and its queue as it was, when the server is killed and restarted', async () => {
      const { visit, next } = await annHoldsAndBobWaits();
      const restart = [world.freezeServer(), ...world.clients.map((client) => client.refuse())];
      for (const client of world.clients) client.cut();
      await world.pass(0.5 * SESSION_TIMEOUT);
      for (const part of restart) part();
      await scene.connected(ann);
      await scene.connected(bob);
      await world.pass(SOON);
      expect(scene.order).toEqual([ann, bob]);
      expect(scene.stateOf(visit)).toBe('held');
      await scene.leave(ann, visit);
      await scene.soon(next.visit);
    });

    it.each([1, 2, 3, 4])(
      'is granted although its directory is collected at every step (acquired %d times before)',
      async (times) => {
        for (let left = times; left > 0; left--) await scene.leave(ann, await scene.take(ann));
        ann.client.network.fate = () => {
          world.server.collectContainers();
          return 'served';
        };
        await scene.leave(ann, await scene.take(ann));
        await scene.leave(ann, await scene.take(ann));
      },
    );

    it('is queued for in a directory that was recreated, whatever was known of the old one', async () => {
      for (let left = 2; left > 0; left--) await scene.leave(ann, await scene.take(ann));
      const ease = ann.client.hinder();
      ann.client.network.latency = () => 3 * SOON;
      const third = ann.acquire(); // expects the number that follows her last one, and gets it
      world.collectContainers();
      const first = await scene.take(bob);
      const second = await scene.wait(cid);
      await world.until(() => scene.queue.nodes.length === 3, 3 * SOON);
      expect(scene.order).toEqual([bob, cid, ann]);
      await world.pass(3 * SOON);
      ann.client.network.latency = () => 0;
      await scene.leave(bob, first);
      await scene.leave(cid, await scene.soon(second.visit));
      await scene.later(third);
      ease();
    });
  });

  describe('of the session', () => {
    it('is queued for again, at the end, by a waiter after the end of its session', async () => {
      const visit = await scene.take(ann);
      const second = await scene.wait(bob);
      const third = await scene.wait(cid);
      world.expire(bob.client);
      await world.pass(SOON);
      expect(scene.order).toEqual([ann, cid, bob]);
      await scene.leave(ann, visit);
      await scene.leave(cid, await scene.soon(third.visit));
      await scene.soon(second.visit);
    });

    it('is lost, and granted to the next waiter, when the session of its holder is ended', async () => {
      const { visit, next } = await annHoldsAndBobWaits();
      world.expire(ann.client);
      await scene.soon(next.visit);
      await world.pass(SOON);
      expect(scene.stateOf(visit)).toBe('lost');
    });

    /** The interleaving of CURATOR-604, in which Curator has two holders. */
    it('is never granted to a node of a session that its client has given up', async () => {
      const { visit, next } = await annHoldsAndBobWaits();
      const given = bob.client.connection.session!;
      const accept = bob.client.refuse();
      bob.client.cut();
      const thaw = world.freezeServer();
      await world.pass(0.3 * SESSION_TIMEOUT); // the server keeps the session longer by that time
      thaw();
      await world.until(() => !given.isAlive, SESSION_TIMEOUT);
      accept();
      await world.until(() => scene.queue.nodes.length === 3, 0.2 * SESSION_TIMEOUT);
      expect(scene.queue.nodes[1]!.owner).toBe(given.id); // the servers still have it, and its node
      expect(scene.order).toEqual([ann, undefined, bob]);

      await scene.leave(ann, visit);
      expect(scene.order).toEqual([undefined, bob]);
      const { hold } = await scene.later(next.visit);
      expect(hold.nodes[0]!.owner).not.toBe(given.id);
      expect(await scene.soon(cid.tryAcquire())).toBeUndefined();
    });

    it('is trusted from the time the last request was sent, however late the answer came', async () => {
      const { visit, next } = await annHoldsAndBobWaits();
      const { network } = ann.client;
      let isRead = false;
      network.fate = () => {
        isRead = true;
        network.latency = () => 0.3 * SESSION_TIMEOUT; // latency of the answer, from now on
        network.fate = () => 'served';
        return 'served';
      };
      await world.until(() => isRead, SESSION_TIMEOUT);
      await world.pass(0.31 * SESSION_TIMEOUT);
      const heal = ann.client.partition();
      const { hold } = await scene.later(next.visit);
      expect(visit.hold.lostAt).toBeLessThan(hold.grantedAt);
      network.latency = () => 0;
      heal();
    });

    it('is lost at once for a process that wakes up after its time', async () => {
      const { visit, next } = await annHoldsAndBobWaits();
      ann.client.process.freeze();
      await scene.later(next.visit);
      ann.client.process.thaw('message');
      expect(visit.lease.isHeld).toBe(false); // asked before the process has done anything else
    });
  });

  describe('in which a connection is cut', () => {
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
      const { visit, next } = await annHoldsAndBobWaits();
      scene.cutAfterSending('delete', ann, 'lost');
      await scene.leave(ann, visit);
      await scene.soon(next.visit);
    });

    it('still notices a deletion by another client when its waiter had lost the connection', async () => {
      const { visit, next } = await annHoldsAndBobWaits();
      bob.client.cut();
      await scene.leave(ann, visit);
      const after = await scene.soon(next.visit);
      await world.pass(SOON);
      world.take(after.hold.nodes[0]!);
      await world.pass(Timing.latency);
      expect(scene.stateOf(after)).toBe('lost');
    });
  });

  describe('in which another client deletes nodes', () => {
    it.each([
      ['at once', 0],
      ['after a while', 2 * Timing.watchAfter],
    ])("is lost to its holder when the holder's node is deleted %s", async (_, age) => {
      const { visit, next } = await annHoldsAndBobWaits();
      await world.pass(age);
      world.take(visit.hold.nodes[0]!);
      await scene.soon(next.visit);
      await world.pass(Timing.watchAfter + 2 * Timing.latency);
      expect(scene.stateOf(visit)).toBe('lost');
    });

    it('is lost to a holder that queued for it, one latency after its node is deleted', async () => {
      const first = await scene.take(ann);
      const next = await scene.wait(bob);
      await scene.leave(ann, first);
      const visit = await scene.soon(next.visit);
      world.take(visit.hold.nodes[0]!);
      await world.pass(Timing.latency);
      expect(scene.stateOf(visit)).toBe('lost');
    });

    it.each([
      ['first', 1],
      ['later', 2],
    ])('is queued for again by the %s waiter when its node is deleted', async (_, place) => {
      const visit = await scene.take(ann);
      const waiting = [(await scene.wait(bob)).visit, (await scene.wait(cid)).visit];
      world.take(scene.queue.nodes[place]!);
      await world.pass(SOON);
      expect(scene.order).toEqual(place === 1 ? [ann, cid, bob] : [ann, bob, cid]);
      await scene.leave(ann, visit);
      const order = place === 1 ? [cid, bob] : [bob, cid];
      for (const visitor of order)
        await scene.leave(visitor, await scene.soon(waiting[visitor === bob ? 0 : 1]!));
    });

    it('is not granted to a waiter that loses its node just before the holder leaves', async () => {
      const { visit, next } = await annHoldsAndBobWaits();
      const after = await scene.wait(cid);
      world.take(scene.queue.nodes[1]!);
      await scene.leave(ann, visit);
      await scene.leave(cid, await scene.soon(after.visit));
      await scene.soon(next.visit);
    });
  });

  it('rejects its 20 waiters at once, and leaves nothing, when their client is closed', async () => {
    await scene.take(ann);
    const waiting = [];
    for (let left = 20; left > 0; left--) waiting.push((await scene.wait(bob)).visit);
    expect(scene.queue.nodes).toHaveLength(21);
    const closed = bob.client.close();
    expect(await world.wait(Promise.all(waiting), 0)).toEqual(Array(20).fill(undefined));
    expect(world.history.counts.get('failed with LOCK_CLIENT_CLOSED')).toBe(20);
    await scene.soon(closed);
    expect(scene.order).toEqual([ann]);
    expect(bob.client.process.pendingTimers).toBe(0);
  });
});
