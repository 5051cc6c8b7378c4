import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { getEventListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { ElectionClosedError, LockLostError } from '../../../lib/core/errors/index.js';
import { LeaderSelector } from '../../../lib/core/election/leader-selector.js';
import type { Leadership } from '../../../lib/core/election/leader-term.js';
import { isSettled } from '../../support/is-settled.js';
import type { granted } from './granted.js';
import { LeaderSelectorElection } from './leader-selector-election.js';
import { LeaderSelectorRecorder } from './leader-selector-recorder.js';

/** How a leadership ends, and what is left of it. */
describe('A leader selector that leads', () => {
  let election: LeaderSelectorElection;
  let recorder: LeaderSelectorRecorder;
  let selector: LeaderSelector;
  let lock: ReturnType<typeof granted>;
  let warn: jest.SpiedFunction<typeof process.emitWarning>;

  beforeEach(async () => {
    warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
    election = new LeaderSelectorElection();
    recorder = new LeaderSelectorRecorder();
    selector = new LeaderSelector(election, recorder.takeLeadership, false);
    selector.start();
    lock = await election.electNow();
  });
  afterEach(async () => {
    recorder.end();
    await selector.close();
    expect([election.listeners, election.waits.size, election.clock.isIdle]).toEqual([0, 0, true]);
    warn.mockRestore();
  });

  const expectLost = (leadership: Leadership, why: RegExp) => {
    expect([leadership.isHeld, leadership.signal.aborted]).toEqual([false, true]);
    expect(leadership.signal.reason).toBeInstanceOf(LockLostError);
    expect(leadership.signal.reason.message).toMatch(why);
    expect(() => leadership.assertHeld()).toThrow(LockLostError);
    expect(selector.hasLeadership).toBe(false);
  };

  describe.each<[string, RegExp, () => void]>([
    ['loses it', /its session ended/, () => lock.hold.markLost('its session ended')],
    ['loses the connection', /the line is dead/, () => void (election.isHealthy = false)],
    ['is interrupted', /it was interrupted/, () => selector.interruptLeadership()],
    ['is closed', /its selector was closed/, () => void selector.close()],
    [
      'has a client that closes',
      /the client was closed/,
      () => void lock.hold.revoke('the client was closed'),
    ],
  ])('and %s', (_, why, happens) => {
    it('is notified at once, and does not wait for the end of its function', async () => {
      const { signal } = recorder.last;
      happens();
      expect(signal.aborted).toBe(true);
      expectLost(recorder.last, why);
      await election.clock.advance(60_000);
      expect(election.candidacies).toHaveLength(1);
    });

    it('does not lead again when all is well again', async () => {
      happens();
      election.isHealthy = true;
      await election.clock.advance(0);
      expectLost(recorder.last, why);
      expect(recorder.leaderships).toHaveLength(1);
    });
  });

  it('knows by the clock that it leads no longer, before any notification', () => {
    const { signal } = recorder.last;
    lock.ledger.isExclusiveNow = false;
    expect([selector.hasLeadership, recorder.last.isHeld]).toEqual([false, false]);
    expect(signal.aborted).toBe(true);
  });

  it('and is interrupted lets others lead when its function has ended', async () => {
    selector.interruptLeadership();
    selector.interruptLeadership();
    await election.clock.advance(0);
    expect([lock.ledger.freed, selector.requeue()]).toEqual([0, false]);
    recorder.end();
    await election.clock.advance(0);
    expect([lock.ledger.freed, selector.requeue()]).toEqual([1, true]);
  });

  it('and is interrupted after its function has ended ignores that', async () => {
    recorder.end();
    await election.clock.advance(0);
    selector.interruptLeadership();
    expect(recorder.last.signal.aborted).toBe(false);
    expect(selector.requeue()).toBe(true);
  });

  describe('and fails', () => {
    it('releases what it was elected by, and raises a process warning', async () => {
      recorder.fail(new Error('out of ink'));
      await election.clock.advance(0);
      expect([lock.ledger.freed, selector.hasLeadership]).toEqual([1, false]);
      expect(warn.mock.calls).toEqual([[expect.stringMatching(/"chair" failed: .*out of ink/)]]);
      expect(selector.requeue()).toBe(true);
    });

    it('at once, does the same', async () => {
      const strict = new LeaderSelector(
        election,
        () => {
          throw new Error('no pen');
        },
        false,
      );
      strict.start();
      const { ledger } = await election.electNow();
      expect([ledger.freed, strict.hasLeadership]).toEqual([1, false]);
      expect(warn.mock.calls).toEqual([[expect.stringContaining('no pen')]]);
    });

    it('with the reason of its signal, raises none', async () => {
      selector.interruptLeadership();
      recorder.fail(recorder.last.signal.reason);
      await election.clock.advance(0);
      expect([lock.ledger.freed, warn.mock.calls]).toEqual([1, []]);
    });

    it('because something that it waits for was aborted, raises none', async () => {
      const { signal } = recorder.last;
      const sleep = delay(60_000, undefined, { signal });
      selector.interruptLeadership();
      recorder.fail(await sleep.catch((error: unknown) => error));
      await election.clock.advance(0);
      expect([lock.ledger.freed, warn.mock.calls]).toEqual([1, []]);
    });

    it('with an abort of its own, or for another reason after the loss, raises a warning', async () => {
      recorder.fail(new DOMException('its own', 'AbortError'));
      await election.clock.advance(0);
      expect(warn.mock.calls).toEqual([[expect.stringContaining('its own')]]);
      selector.requeue();
      await election.clock.advance(0);
      await election.electNow();
      selector.interruptLeadership();
      recorder.fail(new Error('torn paper'));
      await election.clock.advance(0);
      expect(warn.mock.calls[1]).toEqual([expect.stringContaining('torn paper')]);
    });
  });

  describe('and is closed', () => {
    it('resolves, each time, when its function has ended', async () => {
      const closing = [selector.close(), selector.close()];
      expect(await isSettled(Promise.race(closing))).toBe(false);
      expect(lock.ledger.freed).toBe(0);
      recorder.end();
      await Promise.all(closing);
      expect(lock.ledger.freed).toBe(1);
      await selector.close();
    });

    it('starts no more', async () => {
      void selector.close();
      expect(() => selector.start()).toThrow(ElectionClosedError);
      expect(() => selector.requeue()).toThrow(ElectionClosedError);
      recorder.end();
      await selector.close();
      expect(() => selector.start()).toThrow(ElectionClosedError);
      expect(election.candidacies).toHaveLength(1);
    });
  });

  it('leaves no listener on the signal of its election', async () => {
    const signals: AbortSignal[] = [];
    const elect = election.elect.bind(election);
    election.elect = (signal) => {
      signals.push(signal);
      return elect(signal);
    };
    recorder.end();
    await election.clock.advance(0);
    selector.requeue();
    await election.clock.advance(0);
    const before = getEventListeners(signals[0]!, 'abort').length;
    await election.electNow();
    recorder.end();
    await election.clock.advance(0);
    expect(getEventListeners(signals[0]!, 'abort')).toHaveLength(before);
  });
});

describe('A leader selector that does not lead', () => {
  it.each(['before it was started', 'while it stands', 'while it waits for the connection'])(
    'is closed at once %s',
    async (when) => {
      const election = new LeaderSelectorElection();
      const recorder = new LeaderSelectorRecorder();
      const selector = new LeaderSelector(election, recorder.takeLeadership, true);
      selector.interruptLeadership();
      if (when !== 'before it was started') selector.start();
      if (when === 'while it waits for the connection') {
        election.isHealthy = false;
        await election.electNow();
      }
      await selector.close();
      expect(() => selector.start()).toThrow(ElectionClosedError);
      election.isHealthy = true;
      await election.clock.advance(5_000);
      expect([recorder.leaderships.length, election.listeners]).toEqual([0, 0]);
      expect(election.clock.isIdle).toBe(true);
    },
  );

  it('reports the participants and the leader', async () => {
    const election = new LeaderSelectorElection();
    const selector = new LeaderSelector(election, () => {}, false);
    expect([selector.key, selector.id]).toEqual(['chair', 'candidate']);
    expect(await selector.leader()).toBeUndefined();
    election.known = [
      { id: 'a', isLeader: true },
      { id: 'b', isLeader: false },
    ];
    expect(await selector.participants()).toEqual(election.known);
    expect(await selector.leader()).toEqual({ id: 'a', isLeader: true });
  });
});
