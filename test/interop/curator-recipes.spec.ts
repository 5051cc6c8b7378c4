import { describe, expect, it } from '@jest/globals';
import { eventually } from '../support/time.js';
import { useShared } from '../support/fixtures.js';
import type { ElectionActor, ValueActor } from './support/actors.js';
import { doubleBarrierRound } from './fleet/coordination.js';
import type { Peer } from './support/peer.js';
import { Backdrop, describeWithCurator } from './support/stage.js';
import { znodesBelow } from './fleet/grounds.js';

const backdrop = useShared(() => Backdrop.start());

describeWithCurator(backdrop, (stage, release) => {
  /** Starts them one after the other, so that their places in the queue are known. */
  async function startInTurn(candidates: readonly ElectionActor[]): Promise<void> {
    for (const [n, candidate] of candidates.entries()) {
      await candidate.start();
      await stage.queue(n + 1);
    }
  }

  describe('a leader latch', () => {
    const latchesOf = (peers: readonly Peer[]) =>
      peers.map((peer, n) => peer.election(`latch#${'abcdef'[n]}:${stage.path}`));

    it.each(stage.ways)('keeps the other side waiting where $title first', async (way) => {
      const [leader, waiter] = latchesOf(way.peers()) as [ElectionActor, ElectionActor];
      await leader.start();
      expect(await leader.leads()).toBe(true);
      await waiter.start();
      await stage.queue(2);
      expect(await waiter.leads(100)).toBe(false);
      expect([await leader.hasLeadership(), await waiter.hasLeadership()]).toEqual([true, false]);

      const isElected = waiter.leads();
      await leader.close();
      expect(await isElected).toBe(true);
      expect(await waiter.hasLeadership()).toBe(true);
      await waiter.close();
      expect(await stage.queue(0)).toEqual([]); // Curator removes it in the background
    });

    it.each(stage.ways)('has the same leader and participants where $title', async (way) => {
      const [first, second] = way.peers();
      const candidates = latchesOf([first, second, first]);
      await startInTurn(candidates);
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
      const candidates = latchesOf([other, node, other, other, node, node]);
      await startInTurn(candidates);
      for (const [n, candidate] of candidates.entries()) {
        expect(await candidate.leads()).toBe(true);
        const leaders = await Promise.all(candidates.slice(n).map((one) => one.hasLeadership()));
        expect(leaders.filter(Boolean)).toEqual([true]);
        await candidate.close();
      }
    });

    it.each(stage.ways)('skips a candidate that left the queue where $title', async (way) => {
      const [first, second] = way.peers();
      const candidates = latchesOf([first, second, first]);
      await startInTurn(candidates);
      await candidates[1]!.close();
      await stage.queue(2);
      expect(await candidates[2]!.leads(100)).toBe(false);
      await candidates[0]!.close();
      expect(await candidates[2]!.leads()).toBe(true);
      await candidates[2]!.close();
    });

    it.each(stage.ways)(
      'notifies listeners of a begin and, if requested, of an end where $title',
      async (way) => {
        const [noted, silent] = latchesOf(way.peers()) as [ElectionActor, ElectionActor];
        const isTold = async (of: ElectionActor, ...events: string[]) => {
          const areAllThere = async () => (await of.events()).length >= events.length;
          await eventually('all events are reported', areAllThere);
          expect(await of.events()).toEqual(events);
        };
        await noted.start();
        await isTold(noted, 'isLeader');
        await silent.start();
        await stage.queue(2);
        await noted.close('NOTIFY_LEADER');
        await isTold(silent, 'isLeader');
        await silent.close();
        await isTold(noted, 'isLeader', 'notLeader');
        await isTold(silent, 'isLeader');
      },
    );
  });

  describe('a leader selector', () => {
    const selectorOf = (peer: Peer, id: string) => peer.election(`selector#${id}:${stage.path}`);

    /** Two of them, of which the first leads, and the second waits. */
    async function leaderAndWaiter([first, second]: [Peer, Peer]) {
      const [leader, waiter] = [selectorOf(first, 'a'), selectorOf(second, 'b')];
      await leader.start();
      expect(await leader.leads()).toBe(true);
      await waiter.start();
      await stage.queue(2);
      return [leader, waiter] as const;
    }

    it.each(stage.ways)('takes turns with the other side where $title first', async (way) => {
      const [a, b] = await leaderAndWaiter(way.peers());
      for (let round = 0; round < 3; round++)
        for (const [leader, waiter] of [
          [a, b],
          [b, a],
        ] as const) {
          expect(await waiter.leads(100)).toBe(false);
          await leader.yield();
          expect(await waiter.leads()).toBe(true);
          await stage.queue(1);
          expect(await leader.requeue()).toBe(true);
          await stage.queue(2);
        }
      await b.close();
      await a.close();
      expect(await stage.queue(0)).toEqual([]);
    });

    it.each(stage.ways)('has the same leader and participants where $title', async (way) => {
      const [a, b] = await leaderAndWaiter(way.peers());
      for (const one of [a, b]) {
        expect(await one.participants()).toEqual([
          { id: 'a', isLeader: true },
          { id: 'b', isLeader: false },
        ]);
        expect(await one.leader()).toBe('a');
      }
      await b.close();
      await a.close();
    });

    it.each(stage.ways)('passes leadership on when it is interrupted where $title', async (way) => {
      const [a, b] = await leaderAndWaiter(way.peers());
      await a.interrupt();
      expect(await b.leads()).toBe(true);
      expect([await a.hasLeadership(), await b.hasLeadership()]).toEqual([false, true]);
      await b.close();
      await a.close();
    });

    it.each(stage.ways)('is a mutex with the same path where $title', async (way) => {
      const lock = `mutex:${stage.path}`;
      const leader = selectorOf(way.first(), 'a');
      const [, holder] = way.actors();
      await leader.start();
      expect(await leader.leads()).toBe(true);
      expect(await holder.acquire(lock, { wait: 100 })).toBe(false);
      await leader.close();
      expect(await holder.acquire(lock)).toBe(true);
      await holder.release(lock);
    });
  });

  describe.each([
    { kind: 'long', least: (-(2n ** 63n)).toString(), most: (2n ** 63n - 1n).toString() },
    { kind: 'integer', least: (-(2 ** 31)).toString(), most: (2 ** 31 - 1).toString() },
  ])('a distributed atomic $kind', ({ kind, least, most }) => {
    const numberOf = (peer: Peer) => peer.atomicNumber(`${kind}:${stage.path}`);
    const done = (preValue: string, postValue: string) => ({
      succeeded: true,
      preValue,
      postValue,
    });

    it.each(stage.ways)('is the same number for both where $title', async (way) => {
      const [first, second] = way.peers().map(numberOf);
      expect(await first!.get()).toBe('0');
      expect(await first!.change('increment')).toEqual(done('0', '1'));
      expect(await second!.change('add', '41')).toEqual(done('1', '42'));
      expect(await first!.change('subtract', '50')).toEqual(done('42', '-8'));
      expect(await second!.change('decrement')).toEqual(done('-8', '-9'));
      expect(await first!.change('trySet', '5')).toEqual(done('-9', '5'));
      expect(await second!.change('compareAndSet', '5', '6')).toEqual(done('5', '6'));
      const { succeeded, preValue } = await first!.change('compareAndSet', '5', '7');
      expect([succeeded, preValue]).toEqual([false, '6']);
      expect([await first!.get(), await second!.get()]).toEqual(['6', '6']);
    });

    it.each(stage.ways)('is created once, with any value, where $title', async (way) => {
      const [first, second] = way.peers().map(numberOf);
      expect(await first!.initialize(least)).toBe(true);
      expect(await second!.initialize('1')).toBe(false);
      expect(await second!.get()).toBe(least);
      await second!.forceSet(most);
      expect(await first!.get()).toBe(most);
      expect(await first!.change('add', least)).toEqual(done(most, '-1'));
      expect(await second!.get()).toBe('-1');
    });

    it('adds up concurrent additions of both', async () => {
      const users = [stage.node, stage.other, stage.node, stage.other].map(numberOf);
      await Promise.all(users.map((user) => user.count(50)));
      expect(await users[0]!.get()).toBe('200');
      expect(await users[1]!.get()).toBe('200');
    });
  });

  describe.each([
    { kind: 'count', values: ['7', '-2147483648', '2147483647', '0'] },
    { kind: 'value', values: ['seven', 'ü', 'eight', 'nought'] },
  ])('a shared $kind', ({ kind, values }) => {
    const [a, b, c, d] = values as [string, string, string, string];
    const valuesOf = (peers: [Peer, Peer]) =>
      peers.map((peer) => peer.sharedValue(`${kind}:${stage.path}`)) as [ValueActor, ValueActor];
    const sees = (actor: ValueActor, value: string) =>
      eventually(`it is ${value}`, async () => (await actor.get()) === value);
    const hears = async (actor: ValueActor, told: readonly string[]) => {
      const areAllThere = async () => (await actor.heard()).length >= told.length;
      await eventually('all changes are reported', areAllThere);
      expect(await actor.heard()).toEqual(told);
    };

    it.each(stage.ways)('keeps the first seed, and tells of changes where $title', async (way) => {
      const [first, second] = valuesOf(way.peers());
      await first.start(a);
      await second.start(b);
      expect([await first.get(), await second.get()]).toEqual([a, a]);
      await first.set(c);
      await sees(second, c);
      // Both have heard of it before the next change: a watch that has fired reports no other one until the value was read again.
      for (const one of [first, second]) await hears(one, [c]);
      await second.set(d);
      await sees(first, d);
      for (const one of [first, second]) await hears(one, [c, d]);
    });

    it.each(stage.ways)('does not overwrite an unseen value where $title', async (way) => {
      const [first, second] = valuesOf(way.peers());
      await first.start(a);
      await second.start(a);
      expect(await first.trySet(b)).toBe(true);
      await sees(second, b);
      expect(await second.trySet(c)).toBe(true);
      await sees(first, c);
      // Both at once: one of them succeeds; or one after the other, if the second has seen the first by then.
      const tried = await Promise.all([first.trySet(b), second.trySet(d)]);
      expect(tried).toContain(true);
      const set = [b, d].filter((_, n) => tried[n]);
      const last = await eventually('both see the last one', async () => {
        const [seen, other] = await Promise.all([first.get(), second.get()]);
        return seen === other && seen !== c && seen;
      });
      expect(set).toContain(last);
    });

    it.each(stage.ways)('is set by both in turns, again and again, where $title', async (way) => {
      const [first, second] = valuesOf(way.peers());
      await first.start('0');
      await second.start('0');
      for (let n = 1; n <= 20; n += 2) {
        expect(await first.trySet(String(n))).toBe(true);
        await sees(second, String(n));
        expect(await second.trySet(String(n + 1))).toBe(true);
        await sees(first, String(n + 1));
      }
    });
  });

  describe('a barrier', () => {
    const barrierOf = (peer: Peer) => peer.barrier(`barrier:${stage.path}`);

    it.each(stage.ways)('blocks the other side where $title', async (way) => {
      const [setter, waiter] = way.peers().map(barrierOf);
      expect(await waiter!.wait()).toBe(true);
      await setter!.set();
      expect(await waiter!.wait(100)).toBe(false);
      const opened = [...way.peers(), ...way.peers()].map((peer) => barrierOf(peer).wait());
      expect(await waiter!.wait(100)).toBe(false);
      await setter!.remove();
      expect(await Promise.all(opened)).toEqual([true, true, true, true]);
    });

    it.each(stage.ways)('is set and removed by either side where $title', async (way) => {
      const [first, second] = way.peers().map(barrierOf);
      await first!.set();
      await second!.set();
      expect([await first!.wait(100), await second!.wait(100)]).toEqual([false, false]);
      await second!.remove();
      await first!.remove();
      expect([await first!.wait(), await second!.wait()]).toEqual([true, true]);
    });
  });

  describe('a double barrier', () => {
    const membersOf = (peers: readonly Peer[], quantity: number) =>
      peers.map((peer, n) => peer.barrier(`doubleBarrier#${quantity}#m${n}:${stage.path}`));

    it.each(stage.ways)(
      'blocks both until all are in, and until all are out, where $title',
      (way) =>
        doubleBarrierRound(
          membersOf([...way.peers(), ...way.peers()], 4),
          stage.path,
          stage.stranger,
        ),
    );

    it.each(stage.ways)('admits no member while one is missing where $title', async (way) => {
      const [first, second] = membersOf(way.peers(), 3);
      const entered = first!.enter(1_000);
      expect(await second!.enter(300)).toBe(false);
      expect(await entered).toBe(false);
      // A Curator member that has stopped waiting stays counted for as long as its session lives; ours does not.
      const [left] = await stage.queue(1);
      const stat = await stage.stranger.connection.exists(`${stage.path}/${left}`);
      expect(stat!.ephemeralOwner).toBe(await stage.other.actor().session());
    });
  });

  describe('what stands for a recipe on the server', () => {
    /** Has each language do that at a path of its own, and compares what can be seen of the nodes there. */
    async function looksTheSame(act: (peer: Peer, path: string) => Promise<unknown>) {
      const [ours, theirs] = [`${stage.path}/ours`, `${stage.path}/theirs`];
      await act(stage.node, ours);
      await act(stage.other, theirs);
      const nodes = await nodesBelow(ours);
      expect(nodes).toEqual(await nodesBelow(theirs));
      return nodes;
    }

    /** What can be seen of the nodes, except their UUIDs. */
    async function nodesBelow(path: string): Promise<unknown[]> {
      const { connection } = stage.stranger;
      await connection.sync(path);
      const nodes = (await znodesBelow(path, connection)).map(async (node) => {
        const { data, stat } = await connection.getData(node);
        return {
          name: node
            .slice(path.length)
            .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/, 'UUID'),
          data: data.toString('latin1'),
          isEphemeral: stat.ephemeralOwner !== '0',
        };
      });
      return Promise.all(nodes);
    }

    it.each(['mutex', 'read', 'write', 'semaphore#1', 'semaphoreMutex'])(
      'looks the same from both (%s)',
      async (recipe) => {
        await looksTheSame((peer, path) => peer.actor().acquire(`${recipe}:${path}`));
      },
    );

    it.each(['latch#web-1', 'latch#', 'selector#web-1', 'selector#'])(
      'looks the same from both (%s)',
      async (recipe) => {
        const nodes = await looksTheSame(async (peer, path) => {
          const candidate = peer.election(`${recipe}:${path}`);
          await candidate.start();
          expect(await candidate.leads()).toBe(true);
        });
        expect(nodes).toHaveLength(1);
      },
    );

    it.each(['count', 'value'])('looks the same from both (shared %s)', async (kind) => {
      const nodes = await looksTheSame(async (peer, path) => {
        const [first, second] = [1, 2].map((n) => peer.sharedValue(`${kind}:${path}/${n}`));
        await first!.start('-7'); // the seed
        await second!.start('1');
        await second!.set('1000000');
        expect(await second!.trySet('-2147483648')).toBe(true);
      });
      expect(nodes).toHaveLength(2);
    });

    it.each(['long', 'integer'])('looks the same from both (atomic %s)', async (kind) => {
      const nodes = await looksTheSame(async (peer, path) => {
        const numbers = [1, 2, 3].map((n) => peer.atomicNumber(`${kind}:${path}/${n}`));
        await numbers[0]!.change('subtract', '2147483647');
        await numbers[1]!.initialize('258');
        await numbers[2]!.forceSet('-1');
      });
      expect(nodes).toHaveLength(3);
    });

    it('looks the same from both (barrier)', async () => {
      const nodes = await looksTheSame((peer, path) => peer.barrier(`barrier:${path}/1`).set());
      expect(nodes).toHaveLength(1);
    });

    it('looks the same from both (double barrier)', async () => {
      const nodes = await looksTheSame(async (peer, path) => {
        expect(await peer.barrier(`doubleBarrier#1#m:${path}`).enter()).toBe(true);
      });
      expect(nodes).toMatchObject([{ name: '/UUID' }, { name: '/ready' }]);
    });

    if (release !== '5.4.0')
      it('looks the same from both after a downgrade', async () => {
        const nodes = await looksTheSame(async (peer, path) => {
          const actor = peer.actor();
          await actor.acquire(`write:${path}`);
          await actor.acquire(`read:${path}`);
          await actor.release(`write:${path}`);
        });
        expect(nodes).toMatchObject([{ name: '/_c_UUID-__READ__0000000000' }]);
      });
  });
});
