import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { LeaderLatch } from '../../../lib/core/election/leader-latch.js';
import { LeaderTerm } from '../../../lib/core/election/leader-term.js';
import {
  ElectionClosedError,
  LockClientClosedError,
  LockConnectionError,
  LockLostError,
  LockNotHeldError,
} from '../../../lib/core/errors/index.js';
import { EventLoopStalls } from '../../../lib/core/internal/event-loop-stalls.js';
import { LeaseHandle } from '../../../lib/core/internal/lease-handle.js';
import { LeaseScope } from '../../../lib/core/internal/lease-scope.js';
import type { LockClient } from '../../../lib/core/lock-client.js';
import { LockTesting } from '../../../lib/testing/index.js';
import { Deferred, isSettled } from '../../support/time.js';
import { granted, FakeElection } from './fakes.js';

describe('A leader latch', () => {
  let election: FakeElection;
  let latch: LeaderLatch;
  let told: string[];

  beforeEach(() => {
    election = new FakeElection();
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

  function becomeHealthy(isHealthy: boolean): Promise<void> {
    election.isHealthy = isHealthy;
    return settle();
  }

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
    const answer = election.delayAnswer();
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
    const answer = election.delayAnswer();
    await settle();
    await becomeHealthy(true);
    expect([latch.hasLeadership, election.confirmations]).toEqual([false, confirmations + 1]);
    answer.resolve();
    await settle();
    expect([latch.hasLeadership, first.isHeld]).toEqual([true, false]);
    expect([told.at(-1), election.candidacies.length]).toEqual(['leads', 1]);
  });

  it('does not lead by what is interrupted again while it is confirmed', async () => {
    const answer = election.delayAnswer();
    latch.start();
    await election.electNow();
    election.isHealthy = false;
    answer.resolve();
    await settle();
    expect([latch.hasLeadership, told]).toEqual([false, []]);
    await becomeHealthy(true);
    expect([latch.hasLeadership, told]).toEqual([true, ['leads']]);
  });

  it('does not lead by what is lost while it is confirmed: it stands again', async () => {
    const answer = election.delayAnswer();
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
      await becomeHealthy(false);
      await latch.close('NOTIFY_LEADER');
      expect([ledger.freed, told]).toEqual([1, ['leads', 'lost: the line is dead']]);
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

  it('is watched for stalls until the work under it has ended, when its client withdraws what it leads by', async () => {
    const { shared } = EventLoopStalls;
    const [began, ended] = [jest.spyOn(shared, 'begin'), jest.spyOn(shared, 'end')];
    const held = () => began.mock.calls.length - ended.mock.calls.length;
    try {
      latch.start();
      const { hold } = await election.electNow();
      const work = new Deferred();
      const running = latch.leadership!.run(() => work.promise);
      hold.withdraw('its client was closed');
      await settle();
      expect(held()).toBeGreaterThan(0);
      work.resolve();
      await running;
      await settle();
      expect(held()).toBe(0);
    } finally {
      began.mockRestore();
      ended.mockRestore();
    }
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
});

describe('The signal of a leadership', () => {
  const locks = new LockTesting();
  let client: LockClient;

  beforeEach(async () => {
    client = locks.createClient(expect.getState().currentTestName);
    await client.connect();
  });
  afterEach(() => client.close());

  const elected = async () => {
    const latch = client.leaderLatch('mailer');
    latch.start();
    return { latch, leadership: await latch.awaitLeadership() };
  };

  it('aborts when its latch is closed: others may lead then', async () => {
    const { latch, leadership } = await elected();
    const { signal } = leadership;
    await latch.close();
    expect(signal.reason).toBeInstanceOf(LockLostError);
    expect((signal.reason as Error).message).toContain('its latch was closed');
    expect(leadership.isHeld).toBe(false);
    expect(() => leadership.assertHeld()).toThrow(LockNotHeldError);
  });

  it('aborts for work that went on before, and not for what is entered and may end', async () => {
    const { latch, leadership } = await elected();
    const entered = latch.enter()!;
    const { signal } = leadership;
    const closing = latch.close();
    expect(signal.aborted).toBe(true);
    expect([entered.isHeld, entered.signal.aborted]).toEqual([true, false]);
    await entered.release();
    await closing;
    expect(client.activity()).toEqual([]);
  });

  it.each(['lost', 'closed'])(
    'has aborted when the listeners are notified that it is %s',
    async (end) => {
      const { latch, leadership } = await elected();
      const told: boolean[] = [];
      latch.onLeadershipLost(() => told.push(leadership.signal.aborted));
      if (end === 'closed') await latch.close('NOTIFY_LEADER');
      else await locks.loseLease('mailer', client.name);
      expect(told).toEqual([true]);
      await latch.close();
    },
  );

  it('keeps the reason for which it was lost before', async () => {
    const { latch, leadership } = await elected();
    const { signal } = leadership;
    await locks.loseLease('mailer', client.name);
    const { reason } = signal;
    await latch.close();
    expect(leadership.signal.reason).toBe(reason);
  });
});

function begun() {
  const election = new FakeElection();
  const lock = granted();
  const term = new LeaderTerm(election, lock.lease);
  return { election, term, ...lock, elected: lock.lease };
}

describe('A term', () => {
  it('is held as long as what was elected is, and the connection is up', async () => {
    const { term, election } = begun();
    expect([term.lease.isHeld, await isSettled(term.over)]).toEqual([true, false]);
    election.isHealthy = true; // notified of something that changes nothing
    expect(term.lease.isHeld).toBe(true);
  });

  it('is lost with the connection, which takes nothing from what was elected, and does not come back', async () => {
    const { term, election, elected, ledger } = begun();
    election.isHealthy = false;
    expect([term.lease.isHeld, elected.isHeld, ledger.freed]).toEqual([false, true, 0]);
    expect(() => term.lease.assertHeld()).toThrow(/is no longer held: the line is dead/);
    election.isHealthy = true;
    expect(term.lease.isHeld).toBe(false);
    await term.over;
    const next = new LeaderTerm(election, elected);
    expect(next.lease.isHeld).toBe(true);
  });

  it('is over when all of its leases are released, which releases nothing else', async () => {
    const { term, elected, ledger } = begun();
    const another = new LeaseHandle(term.lease.hold);
    await term.lease.release();
    expect([another.isHeld, await isSettled(term.over)]).toEqual([true, false]);
    await another.release();
    await term.over;
    expect([elected.isHeld, ledger.freed]).toEqual([true, 0]);
  });

  it('is the same lock as what was elected to work that runs in it', async () => {
    const { term, identity } = begun();
    await term.lease.run(() => expect(LeaseScope.find(identity)).toBe(term.lease.hold));
  });

  it.each<[string, (its: ReturnType<typeof begun>) => unknown]>([
    ['lost with the lock', ({ hold }) => hold.markLost('it went')],
    ['interrupted', ({ election }) => (election.isHealthy = false)],
    ['released', ({ term }) => term.lease.release()],
  ])('has no listeners left once it is over: %s', async (_, end) => {
    const its = begun();
    expect(its.election.listeners).toBe(1);
    await end(its);
    await its.term.over;
    expect(its.election.listeners).toBe(0);
    const { lost } = its.term.lease.hold;
    its.hold.markLost('too late');
    expect(its.term.lease.hold.lost).toBe(lost);
  });
});
