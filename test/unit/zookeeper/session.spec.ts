import { beforeEach, describe, expect, it } from '@jest/globals';
import { Session } from '../../../lib/zookeeper/connection/session.js';
import { VirtualClock } from '../../support/virtual-clock.js';

const TIMEOUT = 10_000;

describe('A session', () => {
  let clock: VirtualClock;
  let ends: { at: number; reason: string }[];

  beforeEach(() => {
    clock = new VirtualClock();
    ends = [];
  });

  function begin(timeout = TIMEOUT, sentAt = clock.now()): Session {
    const session = new Session('a1', 'secret', timeout, clock, sentAt);
    session.onEnd((reason) => ends.push({ at: clock.now(), reason }));
    return session;
  }

  it('tells of its end before the servers can expire it', async () => {
    begin();
    await clock.advance(TIMEOUT);
    expect(ends).toEqual([{ at: 9_500, reason: 'no answer from the servers for 9500 ms' }]);
  });

  it('counts from when the answered request was sent, not from its answer', async () => {
    await clock.advance(3_000);
    begin(TIMEOUT, 1_000);
    await clock.advance(TIMEOUT);
    expect(ends.map(({ at }) => at)).toEqual([10_500]);
  });

  it('lives as long as requests are answered', async () => {
    const session = begin();
    for (let sentAt = 0; sentAt < 60_000; sentAt += 3_000) {
      await clock.advance(3_000);
      session.answered(sentAt);
    }
    expect(session.isAlive).toBe(true);
    await clock.advance(TIMEOUT);
    expect(ends.map(({ at }) => at)).toEqual([57_000 + 9_500]);
  });

  it('is not shortened by a late answer to an early request', async () => {
    const session = begin();
    await clock.advance(5_000);
    session.answered(4_000);
    session.answered(1_000);
    await clock.advance(TIMEOUT);
    expect(ends.map(({ at }) => at)).toEqual([13_500]);
  });

  it('is over by the clock even when the timer has not fired, and tells at that moment', () => {
    const session = begin();
    clock.stall(9_499);
    expect(session.isAlive).toBe(true);
    clock.stall(1);
    expect(ends).toEqual([]);
    expect(session.isAlive).toBe(false);
    expect(ends).toHaveLength(1);
  });

  it('is never revived by an answer that comes after its end', async () => {
    const session = begin();
    clock.stall(9_500);
    session.answered(9_400);
    expect(session.isAlive).toBe(false);
    session.answered(clock.now());
    await clock.advance(TIMEOUT);
    expect(session.isAlive).toBe(false);
    expect(ends).toHaveLength(1);
  });

  it('ends once, for the first reason, and leaves no timer', () => {
    const session = begin();
    session.end('the servers have expired it');
    session.end('closed');
    expect(ends).toEqual([{ at: 0, reason: 'the servers have expired it' }]);
    expect([session.isAlive, clock.isIdle]).toEqual([false, true]);
  });

  it('tells late listeners at once, and nobody who has stopped listening', () => {
    const session = begin();
    let heard = 0;
    session.onEnd(() => (heard += 1))();
    session.end('closed');
    expect(heard).toBe(0);
    session.onEnd(() => (heard += 1));
    expect(heard).toBe(1);
  });

  it('has ended already when its listeners are told', () => {
    const session = begin();
    const seen: boolean[] = [];
    session.onEnd(() => seen.push(session.isAlive));
    session.end('closed');
    expect(seen).toEqual([false]);
  });

  it('lives for ever, without a timer, where it cannot expire', () => {
    const session = begin(Infinity);
    expect(clock.isIdle).toBe(true);
    clock.stall(Number.MAX_SAFE_INTEGER);
    expect(session.isAlive).toBe(true);
  });
});
