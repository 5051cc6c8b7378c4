import { basename } from 'node:path/posix';
import { describe, expect, it } from '@jest/globals';
import { useShared } from '../support/fixtures.js';
import { pythonWithKazoo } from './support/builds.js';
import { Backdrop, describeWithCurator, type Stage, useStage } from './support/stage.js';
import { startKazooPeer, startNodePeer } from './support/start-peers.js';

/** In ms: a lock that is free is granted long before. */
const BRIEFLY = { wait: 100 };

const backdrop = useShared(() => Backdrop.start());

/** A lock with one holder at a time. */
interface ExcludingLock {
  readonly word: string;
  /** Where the waiters have their nodes, below the path. */
  readonly queue: string;
  /** How many nodes a holder has there. */
  readonly nodesOfHolder: 0 | 1;
}

/** What such a lock promises, whichever language comes first. */
function itExcludes(stage: Stage, { word, queue, nodesOfHolder }: ExcludingLock): void {
  const waiting = (count: number) => stage.queue(nodesOfHolder + count, queue);

  it.each(stage.ways)('excludes all others while $title', async (way) => {
    const lock = `${word}:${stage.path}`;
    const [holder, waiter] = way.actors();
    expect(await holder.acquire(lock)).toBe(true);
    expect(await waiter.acquire(lock, BRIEFLY)).toBe(false);

    const granted = waiter.acquire(lock);
    await waiting(1);
    await holder.release(lock);
    expect(await granted).toBe(true);
    expect(await holder.acquire(lock, BRIEFLY)).toBe(false);
    await waiter.release(lock);
    expect(await holder.acquire(lock)).toBe(true);
  });

  it('is granted in the order of the queue', async () => {
    const lock = `${word}:${stage.path}`;
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

const MUTEX = { word: 'mutex', queue: '', nodesOfHolder: 1 } as const;

(pythonWithKazoo() ? describe : describe.skip)(
  "Shared with kazoo, of which the lock has Curator's node name, a mutex",
  () => itExcludes(useStage(backdrop, startKazooPeer), MUTEX),
);

describeWithCurator(backdrop, (stage, release) => {
  describe('a mutex', () => {
    itExcludes(stage, MUTEX);

    it.each(stage.ways)('has the same participants for both while $title', async (way) => {
      const lock = `mutex:${stage.path}`;
      const [holder, waiter] = way.actors();
      await holder.acquire(lock);
      const granted = waiter.acquire(lock);
      const participants = (await stage.queue(2)).map((name) => `${stage.path}/${name}`);
      // Other actors are asked, because the waiter is busy.
      for (const another of way.actors())
        expect(await another.participants(lock)).toEqual(participants);
      await holder.release(lock);
      await granted;
    });

    it('has the path of its key below the base path, percent-encoded', async () => {
      const [node, java] = [stage.node.actor(), stage.other.actor()];
      const key = `order:${release}`;
      expect(await node.acquire(`mutex:${key}`)).toBe(true);
      expect(await java.acquire(`mutex:/locks/order%3A${release}`, BRIEFLY)).toBe(false);
      await node.release(`mutex:${key}`);
      expect(await java.acquire(`mutex:/locks/order%3A${release}`)).toBe(true);
    });

    it('has its path below the chroot of the connect string', async () => {
      const peer = await startNodePeer(`${stage.connectString}/shop`);
      try {
        const [node, java] = [peer.actor(), stage.other.actor()];
        expect(await node.acquire(`mutex:/seats-${release}`)).toBe(true);
        expect(await java.acquire(`mutex:/shop/seats-${release}`, BRIEFLY)).toBe(false);
        await node.release(`mutex:/seats-${release}`);
        expect(await java.acquire(`mutex:/shop/seats-${release}`)).toBe(true);
      } finally {
        await peer.stop();
      }
    });
  });

  describe('a semaphore mutex', () => {
    itExcludes(stage, { word: 'semaphoreMutex', queue: '/locks', nodesOfHolder: 0 });

    it.each(stage.ways)('is a semaphore of one permit to the other while $title', async (way) => {
      const [first, second] = way.actors();
      await first.acquire(`semaphoreMutex:${stage.path}`);
      expect(await second.acquire(`semaphore#1:${stage.path}`, BRIEFLY)).toBe(false);
    });
  });

  describe('a read/write lock', () => {
    const locks = () => ({ read: `read:${stage.path}`, write: `write:${stage.path}` });

    itExcludes(stage, { word: 'write', queue: '', nodesOfHolder: 1 });

    it('is read by both at the same time, and written by neither meanwhile', async () => {
      const { read, write } = locks();
      const [ours, theirs] = [stage.node.actor(), stage.other.actor()];
      expect(await ours.acquire(read)).toBe(true);
      expect(await theirs.acquire(read)).toBe(true);
      expect(await stage.node.actor().acquire(write, BRIEFLY)).toBe(false);
      expect(await stage.other.actor().acquire(write, BRIEFLY)).toBe(false);
      await ours.release(read);
      expect(await stage.node.actor().acquire(write, BRIEFLY)).toBe(false);
      await theirs.release(read);
      expect(await stage.node.actor().acquire(write)).toBe(true);
    });

    it.each(stage.ways)('admits no reader past a waiting writer while $title', async (way) => {
      const { read, write } = locks();
      const [reader, writer] = way.actors();
      await reader.acquire(read);
      const granted = writer.acquire(write);
      await stage.queue(2);
      for (const another of way.actors()) expect(await another.acquire(read, BRIEFLY)).toBe(false);
      await reader.release(read);
      expect(await granted).toBe(true);
      await writer.release(write);
    });

    // Before 5.5.0 a downgrade in Java let a queued writer in, even a Java one.
    const downgraders = release === '5.4.0' ? stage.ways.slice(0, 1) : stage.ways;
    it.each(downgraders)(
      'stays closed to a queued writer when $title and downgrades',
      async (way) => {
        const { read, write } = locks();
        const [holder, writer] = way.actors();
        await holder.acquire(write);
        let isWritten = false;
        const written = writer.acquire(write).then((granted) => (isWritten = granted));
        await stage.queue(2);

        expect(await holder.acquire(read)).toBe(true);
        await holder.release(write);
        // Time for the writer to enter if it could.
        expect(await way.second().actor().acquire(write, { wait: 500 })).toBe(false);
        expect(isWritten).toBe(false);

        await holder.release(read);
        expect(await written).toBe(true);
        await writer.release(write);
      },
    );

    it('has the same readers and the same writers for both', async () => {
      const { read, write } = locks();
      const both = () => [stage.node.actor(), stage.other.actor()];
      const [readers, writers] = [both(), both()];
      for (const reader of readers) await reader.acquire(read);
      const granted = [];
      for (const [place, writer] of writers.entries()) {
        granted.push(writer.acquire(write));
        await stage.queue(readers.length + place + 1);
      }
      const paths = (await stage.queue(4)).map((name) => `${stage.path}/${name}`);
      for (const another of both()) {
        expect(await another.participants(read)).toEqual(paths.slice(0, 2));
        expect(await another.participants(write)).toEqual(paths.slice(2));
      }

      for (const reader of readers) await reader.release(read);
      for (const [place, writer] of writers.entries()) {
        expect(await granted[place]).toBe(true);
        await writer.release(write);
      }
    });
  });

  describe('a semaphore', () => {
    it.each(stage.ways)('counts the permits of both where $title first', async (way) => {
      const lock = `semaphore#3:${stage.path}`;
      const [first, second] = way.actors();
      expect(await first.acquire(lock, { permits: 2 })).toBe(true);
      expect(await second.acquire(lock)).toBe(true);
      expect(await first.acquire(lock, BRIEFLY)).toBe(false);
      expect(await second.acquire(lock, BRIEFLY)).toBe(false);

      await second.release(lock);
      expect(await first.acquire(lock)).toBe(true);
      expect(await second.acquire(lock, BRIEFLY)).toBe(false);
      await first.release(lock); // the one permit
      await first.release(lock); // the two permits
      expect(await second.acquire(lock, { permits: 3 })).toBe(true);
    });

    it.each(stage.ways)('is granted in the order of the queue where $title', async (way) => {
      const lock = `semaphore#2:${stage.path}`;
      const [holder] = way.actors();
      await holder.acquire(lock);
      await holder.acquire(lock); // and keeps the other permit, so that the waiters pass one by one
      const order: number[] = [];
      const [first, second] = way.peers();
      const served = [];
      for (const [place, peer] of [second, first, first, second].entries()) {
        const waiter = peer.actor();
        served.push(waiter.acquire(lock).then(() => (order.push(place), waiter.release(lock))));
        await stage.queue(place + 1, '/locks');
      }
      await holder.release(lock);
      await Promise.all(served);
      expect(order).toEqual([0, 1, 2, 3]);
    });

    it.each(stage.ways)('passes all of its permits on at once where $title', async (way) => {
      const lock = `semaphore#2:${stage.path}`;
      const [first, second] = way.actors();
      expect(await first.acquire(lock, { permits: 2 })).toBe(true);
      const granted = second.acquire(lock, { permits: 2 });
      await stage.queue(1, '/locks');
      await first.release(lock);
      expect(await granted).toBe(true);
      expect(await first.acquire(lock, BRIEFLY)).toBe(false);
      await second.release(lock);
    });

    it('never lets two Node clients each keep one of the two permits that both want', async () => {
      const lock = `semaphore#2:${stage.path}`;
      const beside = stage.other.actor();
      for (let round = 0; round < 10; round++) {
        const wanting = [stage.node.actor(), stage.node.actor()].map(async (actor) => {
          expect(await actor.acquire(lock, { permits: 2 })).toBe(true);
          await actor.release(lock);
        });
        expect(await beside.acquire(lock)).toBe(true);
        await beside.release(lock);
        await Promise.all(wanting);
      }
    });

    it('becomes free when a Node client stops waiting for permits of which Java has acquired half', async () => {
      // Curator releases the gate after each permit: a client that enters then, wanting both, waits for Java, and Java for it.
      const lock = `semaphore#2:${stage.path}`;
      const [holder, java, node] = [stage.other.actor(), stage.other.actor(), stage.node.actor()];
      await holder.acquire(lock, { permits: 2 });
      const granted = java.acquire(lock, { permits: 2 });
      await stage.queue(1, '/locks');
      const refused = node.acquire(lock, { permits: 2, wait: 2_000 });
      await stage.queue(2, '/locks');
      await holder.release(lock);
      expect(await refused).toBe(false);
      expect(await granted).toBe(true);
      expect(await stage.queue(2, '/leases')).toHaveLength(2);
      await java.release(lock);
    });

    it.each(stage.ways)('lets more in when a shared count is raised where $title', async (way) => {
      const count = `${stage.path}-permits`;
      const lock = `semaphore#${count}:${stage.path}`;
      const [first, second] = way.actors();
      await first.startCount(count, 1);
      await second.startCount(count, 5); // it exists already
      expect(await first.acquire(lock)).toBe(true);
      const granted = second.acquire(lock);
      await stage.queue(1, '/locks');
      await first.setCount(count, 2);
      expect(await granted).toBe(true);
      expect(await first.acquire(lock, BRIEFLY)).toBe(false);

      const third = first.acquire(lock);
      await stage.queue(1, '/locks');
      await second.setCount(count, 3);
      expect(await third).toBe(true);
    });

    it.each(stage.ways)('has the same participants for both while $title', async (way) => {
      const lock = `semaphore#2:${stage.path}`;
      for (const holder of way.actors()) await holder.acquire(lock);
      const leases = new Set(await stage.queue(2, '/leases'));
      // Curator's semaphore returns names where its other recipes return paths, and in no order.
      for (const another of way.actors()) {
        const participants = await another.participants(lock);
        expect(new Set(participants.map((it) => basename(it)))).toEqual(leases);
      }
    });
  });

  describe('a multi-lock', () => {
    const parts = () => [
      `mutex:${stage.path}/a`,
      `write:${stage.path}/b`,
      `semaphoreMutex:${stage.path}/c`,
    ];
    const multiLock = () => parts().join('+');

    it.each(stage.ways)('excludes the other side as a whole while $title', async (way) => {
      const [first, second] = way.actors();
      expect(await first.acquire(multiLock())).toBe(true);
      expect(await second.acquire(multiLock(), BRIEFLY)).toBe(false);
      const granted = second.acquire(multiLock());
      await stage.queue(2, '/a');
      await first.release(multiLock());
      expect(await granted).toBe(true);
      await second.release(multiLock());
    });

    it.each(stage.ways)('excludes the other side part by part while $title', async (way) => {
      const [first, second] = way.actors();
      await first.acquire(multiLock());
      for (const part of parts()) expect(await second.acquire(part, BRIEFLY)).toBe(false);
      await first.release(multiLock());
      for (const part of parts()) expect(await second.acquire(part)).toBe(true);
    });

    it.each(stage.ways)('leaves the other parts free when one is held and $title', async (way) => {
      const [a, b, c] = parts();
      const [first, second] = way.actors();
      await first.acquire(b!);
      expect(await second.acquire(multiLock(), BRIEFLY)).toBe(false);
      expect(await first.acquire(a!)).toBe(true);
      expect(await first.acquire(c!)).toBe(true);
    });
  });

  describe('a revocable lock', () => {
    const RECIPES = ['mutex', 'write', 'read'];

    it.each(RECIPES)('held by Node (%s) is released when Java asks for it', async (recipe) => {
      const lock = `${recipe}:${stage.path}`;
      const [node, java] = [stage.node.actor(), stage.other.actor()];
      await node.acquire(lock);
      await node.makeRevocable(lock);
      const [holder] = await java.participants(lock);
      for (let time = 0; time < 2; time++) {
        await java.revoke(holder!);
        expect(await node.revoked(lock)).toBe(true);
      }
      await node.release(lock);
      expect(await java.acquire(lock)).toBe(true);
    });

    it.each(RECIPES)('held by Java (%s) is released when Node asks for it', async (recipe) => {
      const lock = `${recipe}:${stage.path}`;
      const [node, java] = [stage.node.actor(), stage.other.actor()];
      await java.makeRevocable(lock);
      await java.acquire(lock);
      const [holder] = await node.participants(lock);
      await node.revoke(holder!);
      expect(await java.revoked(lock)).toBe(true);
      await java.release(lock);
      expect(await node.acquire(lock)).toBe(true);
    });

    it('reports a request of Java from before a listener was added', async () => {
      const lock = `mutex:${stage.path}`;
      const [node, java] = [stage.node.actor(), stage.other.actor()];
      await node.acquire(lock);
      const [holder] = await java.participants(lock);
      await java.revoke(holder!);
      await node.makeRevocable(lock);
      expect(await node.revoked(lock)).toBe(true);
    });

    it('reports a request of Java from the time when Node waited', async () => {
      const lock = `mutex:${stage.path}`;
      const [node, java] = [stage.node.actor(), stage.other.actor()];
      await java.acquire(lock);
      const granted = node.acquire(lock);
      await stage.queue(2);
      const [, waiter] = await java.participants(lock);
      await java.revoke(waiter!);
      await java.release(lock);
      expect(await granted).toBe(true);
      await node.makeRevocable(lock);
      expect(await node.revoked(lock)).toBe(true);
    });
  });
});
