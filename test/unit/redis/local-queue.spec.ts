import { beforeEach, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../../lib/core/clock.js';
import { OrderedSet } from '../../../lib/core/collections/ordered-set.js';
import { WaitScope } from '../../../lib/core/internal/wait-scope.js';
import {
  LocalQueues,
  LocalQueuePlace,
  WAITERS_ON_SERVER,
} from '../../../lib/redis/locks/local-queue.js';
import type { LockCommands } from '../../../lib/redis/locks/lock-commands.js';
import { isSettled } from '../../support/time.js';

type Kind = LockCommands['localQueue'];

/** Nothing ends it. */
const wait = new WaitScope({ clock: systemClock, open: new OrderedSet() }, {});

describe('A place in the line of a process', () => {
  let lines: LocalQueues;
  const come = (line: Kind, mayWait = true, raw = 'door') =>
    new LocalQueuePlace(lines, { redisKey: raw, localQueue: line }, mayWait);
  const firsts = (places: readonly LocalQueuePlace[]) => places.map((place) => place.isFirst);

  beforeEach(() => {
    lines = new LocalQueues();
  });

  describe('where one holder keeps all others out', () => {
    it('is taken at once, and moves up in the order of coming', async () => {
      const places = [come('exclusive'), come('exclusive', false), come('exclusive')];
      expect(firsts(places)).toEqual([true, false, false]);
      const turns = places.map((place) => place.first(wait));
      expect(await turns[0]).toBe(false);
      expect(await isSettled(turns[1]!)).toBe(false);
      places[0]!.leave();
      expect(await turns[1]).toBe(true); // what it was answered before is out of date
      expect(await isSettled(turns[2]!)).toBe(false);
      places[1]!.leave();
      expect(await turns[2]).toBe(true);
    });

    it('closes up behind one that gives up, and moves none that was behind it to the front', async () => {
      const places = [come('exclusive'), come('exclusive'), come('exclusive')];
      const turns = places.map((place) => place.first(wait));
      places[1]!.leave();
      expect(firsts(places)).toEqual([true, false, false]);
      places[0]!.leave();
      expect(await turns[2]).toBe(true);
      expect(await isSettled(turns[1]!)).toBe(false);
    });

    it('is left once', () => {
      const places = [come('exclusive'), come('exclusive'), come('exclusive')];
      places[0]!.leave();
      places[0]!.leave();
      expect(firsts(places).slice(1)).toEqual([true, false]);
    });

    it('is of one lock', () => {
      expect([come('exclusive').isFirst, come('exclusive', true, 'gate').isFirst]).toEqual([
        true,
        true,
      ]);
    });

    it('leaves no line behind', () => {
      const [first, second] = [come('exclusive'), come('exclusive')];
      first.leave();
      expect(lines.isEmpty('exclusive', 'door')).toBe(false);
      second.leave();
      expect(lines.isEmpty('exclusive', 'door')).toBe(true);
      expect(come('exclusive').isFirst).toBe(true);
    });
  });

  describe('where there is room for many', () => {
    it('is taken by callers that have to wait', async () => {
      const [first, second] = [come('waiters'), come('waiters')];
      expect(firsts([first, second])).toEqual([true, true]);
      expect(await first.first(wait)).toBe(false);
      const turn = second.first(wait);
      first.leave();
      expect(await turn).toBe(true);
    });

    it('is behind the callers that wait already, except for one that may not wait', () => {
      void come('waiters').first(wait);
      expect(come('waiters').isFirst).toBe(false);
      expect(come('waiters', false).isFirst).toBe(true);
    });
  });

  describe('where the server keeps the order', () => {
    const many = () => Array.from({ length: WAITERS_ON_SERVER + 3 }, () => come('queue'));

    it('is taken at once; the first few ask the server, all at the same time', async () => {
      const places = many();
      expect(firsts(places).indexOf(false)).toBe(WAITERS_ON_SERVER);
      expect(firsts(places).lastIndexOf(true)).toBe(WAITERS_ON_SERVER - 1);
      expect(await places[WAITERS_ON_SERVER - 1]!.first(wait)).toBe(false);
    });

    it('moves one up for each of the first that leaves, in order', async () => {
      const places = many();
      const turns = places.slice(WAITERS_ON_SERVER).map((place) => place.first(wait));
      places[7]!.leave();
      expect(await turns[0]).toBe(true);
      expect(await isSettled(turns[1]!)).toBe(false);
      places[WAITERS_ON_SERVER]!.leave(); // one of the first by now
      expect(await turns[1]).toBe(true);
      expect(await isSettled(turns[2]!)).toBe(false);
    });

    it('moves none up for one that leaves behind them', async () => {
      const places = many();
      const turn = places.at(-1)!.first(wait);
      places.at(-2)!.leave();
      places.at(-3)!.leave();
      expect(await isSettled(turn)).toBe(false);
      places[0]!.leave();
      expect(await turn).toBe(true);
    });

    it('is passed by one that may not wait', () => {
      many();
      expect(come('queue', false).isFirst).toBe(true);
    });

    it('is not that of other kinds of locks of the same name', () => {
      many();
      expect(come('exclusive').isFirst).toBe(true);
    });
  });

  it('is not needed where none has to wait for another', async () => {
    const places = [come('none'), come('none')];
    expect(await Promise.all(places.map((place) => place.first(wait)))).toEqual([false, false]);
    expect(lines.isEmpty('none', 'door')).toBe(true);
  });
});

describe('The lines of a client', () => {
  it('know which locks others want, ten thousand of them', () => {
    const lines = new LocalQueues();
    for (let i = 0; i <= 10_000; i++) lines.setListeners(`lock ${i}`, 1, 0);
    expect([lines.listeners('lock 0'), lines.listeners('lock 1')]).toEqual([0, 1]);
    lines.setListeners('lock 1', 0, 0);
    expect(lines.listeners('lock 1')).toBe(0);
  });
});
