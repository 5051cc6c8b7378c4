import { getEventListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { LeaderSelector, type TakeLeadership } from '../../../lib/core/election/leader-selector.js';
import type { Leadership } from '../../../lib/core/election/leader-term.js';
import {
  ElectionClosedError,
  LockClientClosedError,
  LockConnectionError,
  LockLostError,
  LockOptionsError,
} from '../../../lib/core/errors/index.js';
import { Deferred } from '../../support/time.js';
import { FakeElection, type granted } from './fakes.js';

/** A selector that leads until it is asked to end, and writes down what it led by. */
class Stage {
  readonly election = new FakeElection();
  readonly leaderships: Leadership[] = [];
  readonly selector: LeaderSelector;
  #end = new Deferred();

  constructor({ autoRequeue = false } = {}) {
    const takeLeadership = (leadership: Leadership) => {
      this.leaderships.push(leadership);
      this.#end = new Deferred();
      return this.#end.promise;
    };
    this.selector = new LeaderSelector(this.election, takeLeadership, autoRequeue);
  }

  /** How often it has led, and stood for election. */
  get times(): [led: number, stood: number] {
    return [this.leaderships.length, this.election.candidacies.length];
  }

  get last(): Leadership {
    return this.leaderships.at(-1)!;
  }

  settle(ms = 0): Promise<void> {
    return this.election.clock.advance(ms);
  }

  end(): Promise<void> {
    this.#end.resolve();
    return this.settle();
  }

  fail(error: unknown): Promise<void> {
    this.#end.reject(error);
    return this.settle();
  }
}

describe('A leader selector', () => {
  let stage: Stage;
  let election: FakeElection;
  let selector: LeaderSelector;

  beforeEach(() => {
    stage = new Stage();
    ({ election, selector } = stage);
    selector.start();
  });
  afterEach(async () => {
    await stage.end();
    await selector.close();
    expect([election.listeners, election.waits.size, election.clock.isIdle]).toEqual([0, 0, true]);
  });

  it.each([undefined, null, 'lead', {}])('refuses %p as what a leader does', (wrong) => {
    const make = () => new LeaderSelector(election, wrong as TakeLeadership, false);
    expect(make).toThrow(LockOptionsError);
    expect(make).toThrow(/takeLeadership/);
  });

  it('stands for election once it is started, however often that is', async () => {
    selector.start();
    await stage.settle();
    expect([stage.times, selector.hasLeadership]).toEqual([[0, 1], false]);
  });

  it('does not lead before the servers have confirmed it', async () => {
    const confirmed = election.delayAnswer();
    await election.electNow();
    expect([stage.times, selector.hasLeadership]).toEqual([[0, 1], false]);
    confirmed.resolve();
    await stage.settle();
    expect([stage.times, selector.hasLeadership]).toEqual([[1, 1], true]);
  });

  it('does not lead while the connection is interrupted, and keeps its place until it is back', async () => {
    election.isHealthy = false;
    const { ledger } = await election.electNow();
    expect(stage.times).toEqual([0, 1]);
    election.isHealthy = true;
    await stage.settle();
    expect([stage.times, ledger.freed]).toEqual([[1, 1], 0]);
  });

  it('asks again after an interruption while it was confirmed', async () => {
    const confirmed = election.delayAnswer();
    await election.electNow();
    election.isHealthy = false;
    confirmed.resolve();
    await stage.settle();
    expect(stage.times).toEqual([0, 1]);
    election.isHealthy = true;
    await stage.settle();
    expect([stage.times, election.confirmations]).toEqual([[1, 1], 2]);
  });

  it('never leads by what was lost before the connection is back (Curator: testRaceAtStateChanged)', async () => {
    election.isHealthy = false;
    const { hold, ledger } = await election.electNow();
    hold.markLost('its session ended');
    await stage.settle();
    election.isHealthy = true;
    await stage.settle();
    expect([stage.times, ledger.freed]).toEqual([[0, 2], 1]); // it stands again
  });

  it('never leads by what was lost while it was confirmed', async () => {
    const confirmed = election.delayAnswer();
    const { hold, ledger } = await election.electNow();
    hold.markLost('its session ended');
    confirmed.resolve();
    await stage.settle();
    expect([stage.times, ledger.freed]).toEqual([[0, 2], 1]);
  });

  describe('after it could not stand', () => {
    it('stands again a second later', async () => {
      election.candidacies[0]!.reject(new LockConnectionError('no answer'));
      await stage.settle(999);
      expect(stage.times).toEqual([0, 1]);
      await stage.settle(1);
      expect(stage.times).toEqual([0, 2]);
      await election.electNow();
      expect(stage.times).toEqual([1, 2]);
    });

    it('stands no more when it is closed meanwhile, and leaves no timer', async () => {
      election.candidacies[0]!.reject(new LockConnectionError('no answer'));
      await stage.settle(10);
      await selector.close();
      expect([election.clock.isIdle, election.waits.size, stage.times]).toEqual([true, 0, [0, 1]]);
    });

    it('is closed when its client is', async () => {
      election.candidacies[0]!.reject(new LockClientClosedError());
      await stage.settle(5_000);
      expect(stage.times).toEqual([0, 1]);
      expect(() => selector.start()).toThrow(ElectionClosedError);
      expect(() => selector.requeue()).toThrow(ElectionClosedError);
    });
  });

  it('that is queued again stands when what it led by was released, however long that takes', async () => {
    const { ledger } = await election.electNow();
    const freed = new Deferred();
    ledger.free = () => freed.promise;
    await stage.end();
    expect(selector.requeue()).toBe(true);
    await stage.settle(60_000);
    expect(stage.times).toEqual([1, 1]);
    freed.resolve();
    await stage.settle();
    expect(stage.times).toEqual([1, 2]);
  });
});

describe('A leader selector that leads', () => {
  let stage: Stage;
  let election: FakeElection;
  let selector: LeaderSelector;
  let lock: ReturnType<typeof granted>;
  let warn: jest.SpiedFunction<typeof process.emitWarning>;

  beforeEach(async () => {
    warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
    stage = new Stage();
    ({ election, selector } = stage);
    selector.start();
    lock = await election.electNow();
  });
  afterEach(async () => {
    await stage.end();
    await selector.close();
    expect([election.listeners, election.waits.size, election.clock.isIdle]).toEqual([0, 0, true]);
    warn.mockRestore();
  });

  it.each<[string, RegExp, () => void]>([
    ['loses it', /its session ended/, () => lock.hold.markLost('its session ended')],
    ['loses the connection', /the line is dead/, () => void (election.isHealthy = false)],
    ['is interrupted', /it was interrupted/, () => selector.interruptLeadership()],
    ['is closed', /its selector was closed/, () => void selector.close()],
    ['has a client that closes', /the client was closed/, () => closeClient()],
  ])(
    'and %s is notified at once, waits for its function, and does not lead again when all is well',
    async (_, why, happens) => {
      const { last } = stage;
      const { signal } = last;
      happens();
      expect(signal.aborted).toBe(true);
      expectLost(last, why);
      await stage.settle(60_000);
      expect(stage.times).toEqual([1, 1]);
      election.isHealthy = true;
      await stage.settle();
      expectLost(last, why);
      expect(stage.times).toEqual([1, 1]);
    },
  );

  const closeClient = () => void lock.hold.revoke('the client was closed');

  function expectLost(leadership: Leadership, why: RegExp): void {
    expect([leadership.isHeld, leadership.signal.aborted]).toEqual([false, true]);
    expect(leadership.signal.reason).toBeInstanceOf(LockLostError);
    expect(leadership.signal.reason.message).toMatch(why);
    expect(() => leadership.assertHeld()).toThrow(LockLostError);
    expect(selector.hasLeadership).toBe(false);
  }

  it('knows by the clock that it leads no longer, before any notification', () => {
    const { signal } = stage.last;
    lock.ledger.isExclusiveNow = false;
    expect([selector.hasLeadership, stage.last.isHeld]).toEqual([false, false]);
    expect(signal.aborted).toBe(true);
  });

  it('and is interrupted after its function has ended ignores that', async () => {
    await stage.end();
    selector.interruptLeadership();
    expect(stage.last.signal.aborted).toBe(false);
    expect(selector.requeue()).toBe(true);
  });

  describe('and fails', () => {
    it('releases what it was elected by, warns of its key, and may queue again', async () => {
      await stage.fail(new Error('out of ink'));
      expect([lock.ledger.freed, selector.hasLeadership]).toEqual([1, false]);
      expect(warn.mock.calls).toEqual([[expect.stringMatching(/"chair" failed: .*out of ink/)]]);
      expect(selector.requeue()).toBe(true);
    });

    it('before it has returned a promise does the same', async () => {
      const fail = () => {
        throw new Error('no pen');
      };
      const strict = new LeaderSelector(election, fail, false);
      strict.start();
      const { ledger } = await election.electNow();
      expect([ledger.freed, strict.hasLeadership]).toEqual([1, false]);
      expect(warn.mock.calls).toEqual([[expect.stringContaining('no pen')]]);
    });

    it.each<[string, (signal: AbortSignal) => unknown]>([
      ['with the reason of its signal', (signal): unknown => signal.reason],
      [
        'because something that it waits for was aborted',
        (signal) => delay(60_000, undefined, { signal }).catch((error: unknown) => error),
      ],
    ])('%s, raises no warning', async (_, errorOf) => {
      const { signal } = stage.last;
      selector.interruptLeadership();
      await stage.fail(await errorOf(signal));
      expect([lock.ledger.freed, warn.mock.calls]).toEqual([1, []]);
    });

    it('with an abort of its own, or for another reason after the loss, raises a warning', async () => {
      await stage.fail(new DOMException('its own', 'AbortError'));
      expect(warn.mock.calls).toEqual([[expect.stringContaining('its own')]]);
      selector.requeue();
      await stage.settle();
      await election.electNow();
      selector.interruptLeadership();
      await stage.fail(new Error('torn paper'));
      expect(warn.mock.calls[1]).toEqual([expect.stringContaining('torn paper')]);
    });
  });

  it('and is closed starts no more', async () => {
    void selector.close();
    expect(() => selector.start()).toThrow(ElectionClosedError);
    expect(() => selector.requeue()).toThrow(ElectionClosedError);
    await stage.end();
    await selector.close();
    expect(() => selector.start()).toThrow(ElectionClosedError);
    expect(stage.times).toEqual([1, 1]);
  });

  it('leaves no listener on the signal of its election', async () => {
    const signals: AbortSignal[] = [];
    const elect = election.elect.bind(election);
    election.elect = (signal) => {
      signals.push(signal);
      return elect(signal);
    };
    await stage.end();
    selector.requeue();
    await stage.settle();
    const before = getEventListeners(signals[0]!, 'abort').length;
    await election.electNow();
    await stage.end();
    expect(getEventListeners(signals[0]!, 'abort')).toHaveLength(before);
  });
});

describe('A leader selector that does not lead', () => {
  it.each(['before it was started', 'while it stands', 'while it waits for the connection'])(
    'is closed at once %s',
    async (when) => {
      const stage = new Stage({ autoRequeue: true });
      const { election, selector } = stage;
      selector.interruptLeadership();
      if (when !== 'before it was started') selector.start();
      if (when === 'while it waits for the connection') {
        election.isHealthy = false;
        await election.electNow();
      }
      await selector.close();
      expect(() => selector.start()).toThrow(ElectionClosedError);
      election.isHealthy = true;
      await stage.settle(5_000);
      expect([stage.leaderships.length, election.listeners]).toEqual([0, 0]);
      expect(election.clock.isIdle).toBe(true);
    },
  );

  it('does not stand when it is queued without having been started', async () => {
    const stage = new Stage();
    expect(stage.selector.requeue()).toBe(false);
    await stage.settle();
    expect(stage.times).toEqual([0, 0]);
  });
});
