import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { getEventListeners } from 'node:events';
import {
  ElectionClosedError,
  LockClientClosedError,
  LockConnectionError,
  LockLostError,
} from '../../../lib/core/errors/index.js';
import { LeaderLatch } from '../../../lib/core/election/leader-latch.js';
import { Deferred } from '../../support/deferred.js';
import { isSettled } from '../../support/is-settled.js';
import { granted } from './granted.js';
import { LeaderSelectorElection as Election } from './leader-selector-election.js';

describe('A leader latch', () => {
  let election: Election;
  let latch: LeaderLatch;
  let told: string[];

  beforeEach(() => {
    election = new Election();
    latch = new LeaderLatch(election);
    told = [];
    latch.onLeadership(() => told.push('leads'));
    latch.onLeadershipLost((error) => told.push(error ? `lost: ${error.why}` : 'closed'));
  });

  afterEach(async () => {
    await latch.close();
    expect([election.listeners, election.waits.size]).toEqual([0, 0]);
    expect(election.clock.isIdle).toBe(true);
  });

  const settle = () => election.clock.advance(0);

  it('stands for election once, from its start', async () => {
    expect([latch.key, latch.id, latch.state]).toEqual(['chair', 'candidate', 'LATENT']);
    await settle();
    expect(election.candidacies).toHaveLength(0);
    latch.start();
    latch.start();
    await settle();
    expect([election.candidacies.length, latch.state]).toEqual([1, 'STARTED']);
  });

  it('leads when it is elected, and the servers have confirmed that', async () => {
    const answer = new Deferred();
    election.answer = answer.promise;
    latch.start();
    const waiting = latch.awaitLeadership();
    await election.electNow();
    expect([latch.hasLeadership, latch.leadership, await isSettled(waiting)]).toEqual([
      false,
      undefined,
      false,
    ]);
    answer.resolve();
    expect(await waiting).toBe(latch.leadership);
    expect(await latch.leadership!.fencingToken()).toBe(7n);
    expect(told).toEqual(['leads']);
  });

  it('does not lead as long as the connection is interrupted, nor before it is confirmed anew', async () => {
    latch.start();
    await election.electNow();
    const [first, { confirmations }] = [latch.leadership!, election];
    election.isHealthy = false;
    expect([latch.hasLeadership, first.isHeld]).toEqual([false, false]);
    expect(told).toEqual(['leads', 'lost: the line is dead']);
    const answer = new Deferred();
    election.answer = answer.promise;
    await settle();
    election.isHealthy = true;
    await settle();
    expect([latch.hasLeadership, election.confirmations]).toEqual([false, confirmations + 1]);
    answer.resolve();
    await settle();
    expect([latch.hasLeadership, first.isHeld]).toEqual([true, false]);
    expect([told.at(-1), election.candidacies.length]).toEqual(['leads', 1]);
  });

  it('does not lead by what is interrupted again while it is confirmed', async () => {
    const answer = new Deferred();
    election.answer = answer.promise;
    latch.start();
    await election.electNow();
    election.isHealthy = false;
    answer.resolve();
    await settle();
    expect([latch.hasLeadership, told]).toEqual([false, []]);
    election.isHealthy = true;
    await settle();
    expect([latch.hasLeadership, told]).toEqual([true, ['leads']]);
  });

  it('does not lead by what is lost while it is confirmed: it stands again', async () => {
    const answer = new Deferred();
    election.answer = answer.promise;
    latch.start();
    const { hold, ledger } = await election.electNow();
    hold.markLost('its node was deleted');
    answer.resolve();
    await settle();
    expect([latch.hasLeadership, told, ledger.freed]).toEqual([false, [], 1]);
    expect(election.candidacies).toHaveLength(2);
    await election.electNow();
    expect([latch.hasLeadership, told]).toEqual([true, ['leads']]);
  });

  it('does not lead by what is lost during an interruption: it stands again', async () => {
    latch.start();
    const { hold, ledger } = await election.electNow();
    election.isHealthy = false;
    hold.markLost('its session ended');
    await settle();
    expect([ledger.freed, election.candidacies.length]).toEqual([1, 2]);
    expect(told).toEqual(['leads', 'lost: the line is dead']);
  });

  it('asks the clock at the moment of the question, and reports the loss at once', async () => {
    latch.start();
    const { ledger } = await election.electNow();
    const { signal } = latch.leadership!;
    ledger.isExclusiveNow = false;
    expect([told, signal.aborted]).toEqual([['leads'], false]); // no caller has looked
    expect([latch.hasLeadership, latch.enter()]).toEqual([false, undefined]);
    expect(told).toEqual(['leads', expect.stringMatching(/^lost: .+may have expired/)]);
    expect(signal.reason).toBeInstanceOf(LockLostError);
  });

  describe('when it cannot stand for election', () => {
    const failure = new LockConnectionError('no servers', {});

    it('rejects the waiters, and tries again a second later', async () => {
      latch.start();
      const waits = [latch.awaitLeadership(), latch.awaitLeadership()];
      election.candidacies[0]!.reject(failure);
      await Promise.all(waits.map((wait) => expect(wait).rejects.toBe(failure)));
      await election.clock.advance(999);
      expect(election.candidacies).toHaveLength(1);
      const later = latch.awaitLeadership();
      await election.clock.advance(1);
      expect(election.candidacies).toHaveLength(2);
      await election.electNow();
      expect(await later).toBe(latch.leadership);
    });

    it('closes at once', async () => {
      latch.start();
      election.candidacies[0]!.reject(failure);
      await settle();
      await latch.close();
      expect([latch.state, election.candidacies.length]).toEqual(['CLOSED', 1]);
    });

    it('knows at once that its client was closed', async () => {
      latch.start();
      election.candidacies[0]!.reject(failure);
      await settle();
      for (const wait of election.waits) wait.close();
      await settle();
      expect(election.clock.now()).toBe(0);
      election.candidacies[1]!.reject(new LockClientClosedError());
      await settle();
      expect(latch.state).toBe('CLOSED');
      expect(() => latch.start()).toThrow(ElectionClosedError);
    });
  });

  describe('when its first listener ends what it begins', () => {
    it.each<[string, () => unknown, string]>([
      ['it closes it', () => latch.close('NOTIFY_LEADER'), 'closed'],
      ['it is interrupted', () => (election.isHealthy = false), 'lost: the line is dead'],
    ])('the others are not notified of a beginning after the end: %s', async (_, end, expected) => {
      const others: string[] = [];
      const another = (latch = new LeaderLatch(election));
      another.onLeadership(() => void end());
      another.onLeadership(() => others.push('leads'));
      another.onLeadershipLost((error) => others.push(error ? `lost: ${error.why}` : 'closed'));
      another.start();
      await election.electNow();
      expect([others, another.hasLeadership]).toEqual([[expected], false]);
    });
  });

  describe('when it closes', () => {
    it('releases what it was elected by, and notifies only the waiters', async () => {
      latch.start();
      const { ledger } = await election.electNow();
      await latch.close();
      expect([ledger.freed, told, latch.hasLeadership]).toEqual([1, ['leads'], false]);
    });

    it('stands for election no longer, and rejects the waiters', async () => {
      latch.start();
      const waiting = latch.awaitLeadership();
      await latch.close('NOTIFY_LEADER');
      await expect(waiting).rejects.toBeInstanceOf(ElectionClosedError);
      expect(told).toEqual([]);
    });

    it('releases what it is elected by at the same moment', async () => {
      latch.start();
      const { lease, ledger } = granted(election.key);
      election.candidacies[0]!.resolve(lease);
      await latch.close('NOTIFY_LEADER');
      expect([ledger.freed, told]).toEqual([1, []]);
    });

    it('in the middle of an interruption, releases what it was elected by', async () => {
      latch.start();
      const { ledger } = await election.electNow();
      election.isHealthy = false;
      await settle();
      await latch.close('NOTIFY_LEADER');
      expect([ledger.freed, told]).toEqual([1, ['leads', 'lost: the line is dead']]);
    });

    it('keeps what runs under its leadership, to the end of that', async () => {
      latch.start();
      const { ledger } = await election.electNow();
      const runs = [latch.enter()!, latch.enter()!];
      const closing = latch.close('NOTIFY_LEADER');
      expect(told).toEqual(['leads', 'closed']);
      await runs[0]!.release();
      await settle();
      expect([ledger.freed, runs[1]!.isHeld, runs[1]!.signal.aborted]).toEqual([0, true, false]);
      await runs[1]!.release();
      await closing;
      expect(ledger.freed).toBe(1);
    });

    it('does not keep what runs under a leadership that is lost', async () => {
      latch.start();
      const { ledger } = await election.electNow();
      const run = latch.enter()!;
      const { signal } = run;
      const closing = latch.close();
      election.isHealthy = false;
      await closing;
      expect([ledger.freed, signal.reason]).toEqual([1, expect.any(LockLostError)]);
      expect(told).toEqual(['leads']); // the caller of close() knows
    });
  });

  it('lets go of the signals of callers that awaited its leadership, however that ended', async () => {
    const [patience, hurry] = [new AbortController(), new AbortController()];
    const signals = [patience.signal, hurry.signal];
    const waits = signals.map((signal) => latch.awaitLeadership({ signal, wait: 50 }));
    const late = expect(latch.awaitLeadership({ signal: patience.signal, wait: 40 })).rejects;
    const ended = waits.map((wait) => wait.catch((error: { code: string }) => error.code));
    expect(signals.map((signal) => getEventListeners(signal, 'abort').length)).toEqual([2, 1]);
    hurry.abort();
    await election.clock.advance(45);
    await late.toMatchObject({ code: 'LOCK_TIMEOUT' });
    latch.start();
    await election.electNow();
    expect(await Promise.all(ended)).toEqual([latch.leadership, 'LOCK_ABORTED']);
    expect(signals.map((signal) => getEventListeners(signal, 'abort').length)).toEqual([0, 0]);
  });

  it('reports the leader as the servers know it', async () => {
    expect(await latch.leader()).toBeUndefined();
    election.known = [
      { id: 'ann', isLeader: true },
      { id: 'bob', isLeader: false },
    ];
    expect(await latch.leader()).toEqual({ id: 'ann', isLeader: true });
  });
});
