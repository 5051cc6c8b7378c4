import { expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { describeWithCurator } from './support/describe-with-curator.js';

describeWithCurator('A leader latch', (stage) => {
  const latch = (id: string) => `latch#${id}:${stage.path}`;

  it.each(stage.ways)('keeps the other side waiting where $title first', async (way) => {
    const [first, second] = [way.first(), way.second()];
    const [leader, waiter] = [first.election(latch('a')), second.election(latch('b'))];
    await leader.start();
    expect(await leader.leads()).toBe(true);
    await waiter.start();
    await stage.stranger.queue(stage.path, 2);
    expect(await waiter.leads(300)).toBe(false);
    expect([await leader.hasLeadership(), await waiter.hasLeadership()]).toEqual([true, false]);

    const isElected = waiter.leads();
    await leader.close();
    expect(await isElected).toBe(true);
    expect(await waiter.hasLeadership()).toBe(true);
    await waiter.close();
    expect(await stage.stranger.queue(stage.path, 0)).toEqual([]); // Curator removes it in the background
  });

  it.each(stage.ways)('has the same leader and participants where $title', async (way) => {
    const candidates = [
      way.first().election(latch('a')),
      way.second().election(latch('b')),
      way.first().election(latch('c')),
    ];
    for (const [n, candidate] of candidates.entries()) {
      await candidate.start();
      await stage.stranger.queue(stage.path, n + 1);
    }
    for (const candidate of candidates) {
      expect(await candidate.participants()).toEqual([
        { id: 'a', isLeader: true },
        { id: 'b', isLeader: false },
        { id: 'c', isLeader: false },
      ]);
      expect(await candidate.leader()).toBe('a');
    }
    await candidates[0]!.close();
    for (const candidate of candidates.slice(1))
      // Curator removes it in the background
      await eventually('b leads', async () => (await candidate.leader()) === 'b');
    await candidates[2]!.close();
    await candidates[1]!.close();
  });

  it('is led in the order of the queue, in both languages', async () => {
    const { node, other } = stage;
    const candidates = [other, node, other, other, node, node].map((peer, n) =>
      peer.election(latch(`c${n}`)),
    );
    for (const [n, candidate] of candidates.entries()) {
      await candidate.start();
      await stage.stranger.queue(stage.path, n + 1);
    }
    for (const [n, candidate] of candidates.entries()) {
      expect(await candidate.leads()).toBe(true);
      const leaders = await Promise.all(candidates.slice(n).map((one) => one.hasLeadership()));
      expect(leaders.filter(Boolean)).toEqual([true]);
      await candidate.close();
    }
  });

  it.each(stage.ways)('skips a candidate that left the queue where $title', async (way) => {
    const candidates = [
      way.first().election(latch('a')),
      way.second().election(latch('b')),
      way.first().election(latch('c')),
    ];
    for (const [n, candidate] of candidates.entries()) {
      await candidate.start();
      await stage.stranger.queue(stage.path, n + 1);
    }
    await candidates[1]!.close();
    await stage.stranger.queue(stage.path, 2);
    expect(await candidates[2]!.leads(300)).toBe(false);
    await candidates[0]!.close();
    expect(await candidates[2]!.leads()).toBe(true);
    await candidates[2]!.close();
  });

  it.each(stage.ways)(
    'notifies listeners of a begin and, if requested, of an end where $title',
    async (way) => {
      const [first, second] = [way.first(), way.second()];
      const [noted, silent] = [first.election(latch('a')), second.election(latch('b'))];
      const isTold = async (of: typeof noted, ...events: string[]) => {
        await eventually(
          'all events are reported',
          async () => (await of.events()).length >= events.length,
        );
        expect(await of.events()).toEqual(events);
      };
      await noted.start();
      await isTold(noted, 'isLeader');
      await silent.start();
      await stage.stranger.queue(stage.path, 2);
      await noted.close('NOTIFY_LEADER');
      await isTold(silent, 'isLeader');
      await silent.close();
      await isTold(noted, 'isLeader', 'notLeader');
      await isTold(silent, 'isLeader');
    },
  );
});
