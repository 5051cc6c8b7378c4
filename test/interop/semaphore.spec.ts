import { expect, it } from '@jest/globals';
import { basename } from 'node:path/posix';
import { describeWithCurator } from './support/describe-with-curator.js';

describeWithCurator('A semaphore', (stage) => {
  it.each(stage.ways)('counts the permits of both where $title first', async (way) => {
    const lock = `semaphore#3:${stage.path}`;
    const [first, second] = [way.first().actor(), way.second().actor()];
    expect(await first.acquire(lock, { permits: 2 })).toBe(true);
    expect(await second.acquire(lock)).toBe(true);
    expect(await first.acquire(lock, { wait: 300 })).toBe(false);
    expect(await second.acquire(lock, { wait: 300 })).toBe(false);

    await second.release(lock);
    expect(await first.acquire(lock)).toBe(true);
    expect(await second.acquire(lock, { wait: 300 })).toBe(false);
    await first.release(lock); // the one permit
    await first.release(lock); // the two permits
    expect(await second.acquire(lock, { permits: 3 })).toBe(true);
  });

  it.each(stage.ways)('is granted in the order of the queue where $title', async (way) => {
    const lock = `semaphore#2:${stage.path}`;
    const holder = way.first().actor();
    await holder.acquire(lock);
    await holder.acquire(lock); // and keeps the other permit, so that the waiters pass one by one
    const order: number[] = [];
    const waiters = [way.second(), way.first(), way.first(), way.second()];
    const served = [];
    for (const [place, peer] of waiters.entries()) {
      const waiter = peer.actor();
      served.push(waiter.acquire(lock).then(() => (order.push(place), waiter.release(lock))));
      await stage.stranger.queue(`${stage.path}/locks`, place + 1);
    }
    await holder.release(lock);
    await Promise.all(served);
    expect(order).toEqual([0, 1, 2, 3]);
  });

  it.each(stage.ways)('passes all of its permits on at once where $title', async (way) => {
    const lock = `semaphore#2:${stage.path}`;
    const [first, second] = [way.first().actor(), way.second().actor()];
    expect(await first.acquire(lock, { permits: 2 })).toBe(true);
    const granted = second.acquire(lock, { permits: 2 });
    await stage.stranger.queue(`${stage.path}/locks`, 1);
    await first.release(lock);
    expect(await granted).toBe(true);
    expect(await first.acquire(lock, { wait: 300 })).toBe(false);
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
    await stage.stranger.queue(`${stage.path}/locks`, 1);
    const refused = node.acquire(lock, { permits: 2, wait: 2_000 });
    await stage.stranger.queue(`${stage.path}/locks`, 2);
    await holder.release(lock);
    expect(await refused).toBe(false);
    expect(await granted).toBe(true);
    expect(await stage.stranger.queue(`${stage.path}/leases`, 2)).toHaveLength(2);
    await java.release(lock);
  });

  it.each(stage.ways)(
    'lets more holders in when a shared count is raised where $title',
    async (way) => {
      const count = `${stage.path}-permits`;
      const lock = `semaphore#${count}:${stage.path}`;
      const [first, second] = [way.first().actor(), way.second().actor()];
      await first.startCount(count, 1);
      await second.startCount(count, 5); // it exists already
      expect(await first.acquire(lock)).toBe(true);
      const granted = second.acquire(lock);
      await stage.stranger.queue(`${stage.path}/locks`, 1);
      await first.setCount(count, 2);
      expect(await granted).toBe(true);
      expect(await first.acquire(lock, { wait: 300 })).toBe(false);

      const third = first.acquire(lock);
      await stage.stranger.queue(`${stage.path}/locks`, 1);
      await second.setCount(count, 3);
      expect(await third).toBe(true);
    },
  );

  it.each(stage.ways)('has the same participants for both while $title', async (way) => {
    const lock = `semaphore#2:${stage.path}`;
    await way.first().actor().acquire(lock);
    await way.second().actor().acquire(lock);
    const leases = new Set(await stage.stranger.queue(`${stage.path}/leases`, 2));
    // Curator's semaphore returns names where its other recipes return paths, and in no order.
    const names = (participants: readonly string[]) =>
      new Set(participants.map((it) => basename(it)));
    expect(names(await way.first().actor().participants(lock))).toEqual(leases);
    expect(names(await way.second().actor().participants(lock))).toEqual(leases);
  });
});
