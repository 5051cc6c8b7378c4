import { describe, expect, it } from '@jest/globals';
import { LockLostError } from '../../../lib/core/errors/index.js';
import { LeaseHandle } from '../../../lib/core/internal/lease-handle.js';
import { LeaderTerm } from '../../../lib/core/election/leader-term.js';
import { LeaseScope } from '../../../lib/core/internal/lease-scope.js';
import { isSettled } from '../../support/is-settled.js';
import { granted } from './granted.js';
import { LeaderSelectorElection as Election } from './leader-selector-election.js';

function begun() {
  const election = new Election();
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

  it('is lost with what was elected, for the same reason', async () => {
    const { term, hold } = begun();
    const { signal } = term.lease;
    hold.markLost('its node was deleted');
    expect([term.lease.isHeld, signal.aborted]).toEqual([false, true]);
    expect(signal.reason).toBeInstanceOf(LockLostError);
    expect(signal.reason).toMatchObject({
      why: 'its node was deleted',
      key: 'door',
    });
    await term.over;
  });

  it('is lost by the clock, before any notification', async () => {
    const { term, ledger } = begun();
    ledger.isExclusiveNow = false;
    expect(term.lease.isHeld).toBe(false);
    await term.over;
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

  it('has the fencing token of what was elected', async () => {
    const { term, ledger } = begun();
    ledger.token = async () => 42n;
    expect(await term.lease.fencingToken()).toBe(42n);
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
