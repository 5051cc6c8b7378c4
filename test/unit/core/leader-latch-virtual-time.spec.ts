import { getEventListeners } from 'node:events';
import { describe, expect, it, jest } from '@jest/globals';
import type { Clock } from '../../../lib/core/clock.js';
import { LockLostError } from '../../../lib/core/errors/index.js';
import { seededRandom } from '../../support/seeded-random.js';
import { VirtualWorld } from '../zookeeper/world.js';

const POLICIES = ['standard', 'session'] as const;
const sessionTimeout = 6_000;

/** Its server expires the sessions of its clients. */
class LeaderLatchWorld extends VirtualWorld {
  readonly #random: () => number;

  constructor(seed = 1) {
    super({ tickTime: 500 });
    this.#random = seededRandom(seed);
  }

  async client() {
    const random = this.#random;
    const clock = countingTimers(this.clock);
    const visitor = await this.join({
      sessionTimeout,
      random,
      latency: () => random() * 20,
      clock,
    });
    return { ...visitor, timers: clock };
  }

  /** Names of the nodes in the directory of that key, by their numbers. */
  nodes(key: string): string[] {
    const names = this.server.tree.get(`/locks/${key}`)?.children ?? [];
    return [...names].sort((a, b) => (a.slice(-10) < b.slice(-10) ? -1 : 1));
  }
}

/** The clock of a client's recipes, which knows how many of their timers are pending. */
function countingTimers(clock: Clock): Clock & { readonly pending: number } {
  const entries = new Set<object>();
  return {
    get pending() {
      return entries.size;
    },
    now: () => clock.now(),
    setTimer: (fn, ms) => {
      const entry = {};
      entries.add(entry);
      const settle = (then: () => void) => () => {
        entries.delete(entry);
        then();
      };
      const timer = clock.setTimer(settle(fn), ms);
      return { cancel: settle(() => timer.cancel()) };
    },
  };
}

describe.each(POLICIES)('A leader with the error policy %j', (errorPolicy) => {
  it('leads no longer as soon as an event loop goes on that stood still for a session', async () => {
    const world = new LeaderLatchWorld();
    const { locks } = await world.client();
    const latch = locks.leaderLatch('chair', { errorPolicy });
    const told: unknown[] = [];
    latch.onLeadershipLost((error) => told.push(error));
    latch.start();
    const leadership = await world.clock.runUntil(latch.awaitLeadership(), 1_000);
    const { signal } = leadership;
    const run = latch.enter()!;
    world.clock.stall(sessionTimeout);
    // No timer and no message has been dealt with since.
    expect([latch.hasLeadership, leadership.isHeld, run.isHeld]).toEqual([false, false, false]);
    expect([latch.leadership, latch.enter()]).toEqual([undefined, undefined]);
    expect(told).toEqual([expect.any(LockLostError)]);
    expect(signal.reason).toBe(told[0]);
    await run.release();
    void latch.close();
  });

  it('that cannot be reached by the servers is notified before another one leads', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const world = new LeaderLatchWorld(seed);
      const { clock } = world;
      const [one, two] = [await world.client(), await world.client()];
      const [leader, other] = [one, two].map(({ locks }) =>
        locks.leaderLatch('chair', { errorPolicy }),
      );
      leader!.start();
      const leadership = await clock.runUntil(leader!.awaitLeadership(), 1_000);
      let toldAt = Infinity;
      leadership.signal.addEventListener('abort', () => (toldAt = clock.now()), { once: true });
      const token = await clock.runUntil(leadership.fencingToken(), 1_000);
      other!.start();
      await clock.runUntil(() => world.nodes('chair').length === 2, 1_000);
      await clock.advance(seed * 137);
      one.network.partition();
      const next = await clock.runUntil(other!.awaitLeadership(), 4 * sessionTimeout);
      expect(toldAt).toBeLessThan(clock.now());
      expect(leader!.hasLeadership).toBe(false);
      expect(await clock.runUntil(next.fencingToken(), 1_000)).toBeGreaterThan(token);

      one.network.heal();
      await clock.runUntil(() => world.nodes('chair').length === 2, 4 * sessionTimeout);
      expect([leader!.hasLeadership, other!.hasLeadership]).toEqual([false, true]);
      void other!.close();
      const again = await clock.runUntil(leader!.awaitLeadership(), 4 * sessionTimeout);
      expect([again === leadership, again.isHeld]).toEqual([false, true]);
    }
  });
});

describe('A leader latch', () => {
  it('is never led by a node of an older session, which the servers still keep', async () => {
    const world = new LeaderLatchWorld();
    const { clock } = world;
    const [one, two] = [await world.client(), await world.client()];
    const [leader, waiting] = [one, two].map(({ locks }) => locks.leaderLatch('chair'));
    leader!.start();
    await clock.runUntil(leader!.awaitLeadership(), 1_000);
    waiting!.start();
    await clock.runUntil(() => world.nodes('chair').length === 2, 1_000);
    const [, old] = world.nodes('chair');

    two.network.partition();
    await clock.runUntil(() => two.connection.state === 'LOST', 2 * sessionTimeout);
    two.network.cut(); // its farewell does not arrive
    two.network.heal();
    await clock.runUntil(() => two.connection.isConnected, 1_000);
    const closing = leader!.close();
    await clock.runUntil(closing, 1_000);
    await clock.runUntil(() => world.nodes('chair').length === 2, 1_000);
    expect(world.nodes('chair')[0]).toBe(old); // first in the queue, and of a session that is given up
    expect(waiting!.hasLeadership).toBe(false);

    await clock.runUntil(waiting!.awaitLeadership(), 2 * sessionTimeout);
    const [node, ...rest] = world.nodes('chair');
    expect([node === old, rest]).toEqual([false, []]);
    const { id } = two.connection.session!;
    expect(world.server.tree.get(`/locks/chair/${node}`)!.owner).toBe(id);
  });

  it('leaves no timer and no listener behind, whatever has happened to it', async () => {
    const world = new LeaderLatchWorld();
    const { clock, server } = world;
    const { locks, connection, network, timers } = await world.client();
    const onStateChange = countOpen(connection, 'onStateChange');
    const onEnd = countOpen(connection.session!, 'onEnd');
    const listening = jest.spyOn(EventTarget.prototype, 'addEventListener');
    try {
      const latches = [1, 2, 3].map(() => locks.leaderLatch('chair'));
      const [leader, second, third] = latches;
      for (const latch of latches) latch.start();
      const patience = new AbortController();
      const { signal } = patience;
      const waits = latches.map((latch) => latch.awaitLeadership({ signal, wait: 60_000 }));
      const ended = Promise.allSettled(waits);
      await clock.runUntil(waits[0]!, 1_000);
      const cuts = 3; // each link that is left waits for the end of its session, too
      for (let n = 0; n < cuts; n++) {
        network.cut();
        await clock.runUntil(() => !connection.isConnected, 1_000);
        expect(leader!.hasLeadership).toBe(false);
        await clock.runUntil(leader!.awaitLeadership(), 5_000);
      }
      await clock.advance(1_000);
      expect(onStateChange.open).toBeGreaterThan(0);
      expect(onEnd.open).toBeGreaterThan(cuts);
      const [node] = world.nodes('chair');
      server.remove(`/locks/chair/${node}`);
      await clock.runUntil(second!.awaitLeadership(), 1_000);
      const run = second!.enter()!;
      const closing = Promise.all(latches.map((latch) => latch.close('NOTIFY_LEADER')));
      await clock.advance(100);
      await run.release();
      await clock.runUntil(closing, 1_000);
      await ended;
      expect(third!.state).toBe('CLOSED');
      await clock.advance(1_000); // holds of all locks share a timer, which goes on for a moment
      expect(world.nodes('chair')).toEqual([]);
      expect([onStateChange.open, onEnd.open, timers.pending]).toEqual([0, cuts, 0]);
      const signals = listening.mock.contexts.filter((it) => it instanceof AbortSignal);
      expect(signals).toContain(signal);
      expect(signals.flatMap((it) => getEventListeners(it, 'abort'))).toEqual([]);
    } finally {
      listening.mockRestore();
    }
  });
});

/** Counts the listeners that were added and not removed. */
function countOpen<M extends string>(
  owner: { [method in M]: (listener: () => void) => () => void },
  method: M,
): { open: number } {
  const count = { open: 0 };
  const listen = owner[method].bind(owner);
  Object.assign(owner, {
    [method]: (listener: () => void) => {
      const stop = listen(listener);
      let isOpen = true;
      count.open += 1;
      return () => {
        if (isOpen) count.open -= 1;
        isOpen = false;
        stop();
      };
    },
  });
  return count;
}
