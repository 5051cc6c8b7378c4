import { describe, expect, it } from '@jest/globals';
import { currentLease } from '../../../lib/core/internal/lease-scope.js';
import {
  ElectionClosedError,
  LockClientClosedError,
  LockConnectionError,
  LockOptionsError,
} from '../../../lib/core/errors/index.js';
import type { Lease } from '../../../lib/core/lease.js';
import { LeaderSelector, type TakeLeadership } from '../../../lib/core/election/leader-selector.js';
import { Deferred } from '../../support/deferred.js';
import { LeaderSelectorElection } from './leader-selector-election.js';
import { LeaderSelectorRecorder } from './leader-selector-recorder.js';

describe('A leader selector', () => {
  const standing = ({
    autoRequeue = false,
    takeLeadership,
  }: { autoRequeue?: boolean; takeLeadership?: TakeLeadership } = {}) => {
    const election = new LeaderSelectorElection();
    const recorder = new LeaderSelectorRecorder();
    const take = takeLeadership ?? recorder.takeLeadership;
    const selector = new LeaderSelector(election, take, autoRequeue);
    selector.start();
    return { election, recorder, selector };
  };

  it.each([undefined, null, 'lead', {}])('refuses %p as what a leader does', (wrong) => {
    const make = () =>
      new LeaderSelector(new LeaderSelectorElection(), wrong as TakeLeadership, false);
    expect(make).toThrow(LockOptionsError);
    expect(make).toThrow(/takeLeadership/);
  });

  it('stands for election once it is started, however often that is', async () => {
    const { election, selector } = standing();
    selector.start();
    await election.clock.advance(0);
    expect([election.candidacies.length, selector.hasLeadership]).toEqual([1, false]);
    await selector.close();
  });

  it('leads for as long as its function runs, and then releases what it was elected by', async () => {
    const { election, recorder, selector } = standing();
    const { ledger } = await election.electNow();
    expect([selector.hasLeadership, recorder.last.isHeld, ledger.freed]).toEqual([true, true, 0]);
    recorder.end();
    await election.clock.advance(0);
    expect([selector.hasLeadership, recorder.last.isHeld, ledger.freed]).toEqual([false, false, 1]);
    expect(recorder.last.signal.aborted).toBe(false);
    expect(election.candidacies).toHaveLength(1);
  });

  it('runs its function in the scope of the leadership, to its end', async () => {
    const seen: (Lease | undefined)[] = [];
    const go = new Deferred();
    const { election, selector } = standing({
      takeLeadership: async (leadership) => {
        seen.push(leadership as Lease, currentLease());
        await go.promise;
        seen.push(currentLease());
      },
    });
    await election.electNow();
    expect(currentLease()).toBeUndefined();
    go.resolve();
    await selector.close();
    expect(seen).toHaveLength(3);
    expect(new Set(seen).size).toBe(1);
    expect(seen[0]).toBeDefined();
  });

  it('reports the fencing token of what it was elected by', async () => {
    const { election, recorder } = standing();
    await election.electNow();
    expect(await recorder.last.fencingToken()).toBe(7n);
    recorder.end();
    await election.clock.advance(0);
    await expect(recorder.last.fencingToken()).rejects.toMatchObject({ code: 'LOCK_NOT_HELD' });
  });

  it('does not lead before the servers have confirmed it', async () => {
    const { election, recorder, selector } = standing();
    const confirmed = new Deferred();
    election.answer = confirmed.promise;
    await election.electNow();
    expect([recorder.leaderships.length, selector.hasLeadership]).toEqual([0, false]);
    confirmed.resolve();
    await election.clock.advance(0);
    expect([recorder.leaderships.length, selector.hasLeadership]).toEqual([1, true]);
    recorder.end();
  });

  it('does not lead while the connection is interrupted, and keeps its place until it is back', async () => {
    const { election, recorder } = standing();
    election.isHealthy = false;
    const { ledger } = await election.electNow();
    expect(recorder.leaderships).toHaveLength(0);
    election.isHealthy = true;
    await election.clock.advance(0);
    expect([recorder.leaderships.length, election.candidacies.length, ledger.freed]).toEqual([
      1, 1, 0,
    ]);
    recorder.end();
  });

  it('asks again after an interruption while it was confirmed', async () => {
    const { election, recorder } = standing();
    const confirmed = new Deferred();
    election.answer = confirmed.promise;
    await election.electNow();
    election.isHealthy = false;
    confirmed.resolve();
    await election.clock.advance(0);
    expect(recorder.leaderships).toHaveLength(0);
    election.isHealthy = true;
    await election.clock.advance(0);
    expect([recorder.leaderships.length, election.confirmations]).toEqual([1, 2]);
    expect(election.candidacies).toHaveLength(1);
    recorder.end();
  });

  it('never leads by what was lost before the connection is back (Curator: testRaceAtStateChanged)', async () => {
    const { election, recorder, selector } = standing();
    election.isHealthy = false;
    const { hold, ledger } = await election.electNow();
    hold.markLost('its session ended');
    await election.clock.advance(0);
    election.isHealthy = true;
    await election.clock.advance(0);
    expect([recorder.leaderships.length, ledger.freed]).toEqual([0, 1]);
    expect(election.candidacies).toHaveLength(2); // it stands again
    await selector.close();
  });

  it('never leads by what was lost while it was confirmed', async () => {
    const { election, recorder, selector } = standing();
    const confirmed = new Deferred();
    election.answer = confirmed.promise;
    const { hold, ledger } = await election.electNow();
    hold.markLost('its session ended');
    confirmed.resolve();
    await election.clock.advance(0);
    expect([recorder.leaderships.length, ledger.freed]).toEqual([0, 1]);
    expect(election.candidacies).toHaveLength(2);
    await selector.close();
  });

  describe('after it could not stand', () => {
    it('stands again a second later', async () => {
      const { election, recorder } = standing();
      election.candidacies[0]!.reject(new LockConnectionError('no answer'));
      await election.clock.advance(999);
      expect(election.candidacies).toHaveLength(1);
      await election.clock.advance(1);
      expect(election.candidacies).toHaveLength(2);
      await election.electNow();
      expect(recorder.leaderships).toHaveLength(1);
      recorder.end();
    });

    it('stands no more when it is closed meanwhile, and leaves no timer', async () => {
      const { election, selector } = standing();
      election.candidacies[0]!.reject(new LockConnectionError('no answer'));
      await election.clock.advance(10);
      await selector.close();
      expect([election.clock.isIdle, election.waits.size]).toEqual([true, 0]);
      expect(election.candidacies).toHaveLength(1);
    });

    it('is closed when its client is', async () => {
      const { election, selector } = standing();
      election.candidacies[0]!.reject(new LockClientClosedError());
      await election.clock.advance(5_000);
      expect(election.candidacies).toHaveLength(1);
      expect(() => selector.start()).toThrow(ElectionClosedError);
      expect(() => selector.requeue()).toThrow(ElectionClosedError);
    });
  });

  describe('queued again', () => {
    it('stands again, and only then', async () => {
      const { election, recorder, selector } = standing();
      expect(selector.requeue()).toBe(false);
      await election.electNow();
      expect(selector.requeue()).toBe(false);
      recorder.end();
      await election.clock.advance(0);
      expect([selector.requeue(), selector.requeue()]).toEqual([true, false]);
      await election.clock.advance(0);
      expect(election.candidacies).toHaveLength(2);
      await selector.close();
    });

    it('does not stand when it was not started', async () => {
      const election = new LeaderSelectorElection();
      const selector = new LeaderSelector(election, () => {}, false);
      expect(selector.requeue()).toBe(false);
      await election.clock.advance(0);
      expect(election.candidacies).toHaveLength(0);
    });

    it('stands when what it led by was released, however long that takes', async () => {
      const { election, recorder, selector } = standing();
      const { ledger } = await election.electNow();
      const freed = new Deferred();
      ledger.free = () => freed.promise;
      recorder.end();
      await election.clock.advance(0);
      expect(selector.requeue()).toBe(true);
      await election.clock.advance(60_000);
      expect(election.candidacies).toHaveLength(1);
      freed.resolve();
      await election.clock.advance(0);
      expect(election.candidacies).toHaveLength(2);
      await selector.close();
    });

    it('by itself stands each time that it has led, whatever came of it', async () => {
      const { election, recorder, selector } = standing({ autoRequeue: true });
      for (let time = 1; time <= 3; time++) {
        const { hold } = await election.electNow();
        expect([recorder.leaderships.length, selector.requeue()]).toEqual([time, false]);
        if (time === 2) hold.markLost('its session ended');
        recorder.end();
        await election.clock.advance(0);
        expect(election.candidacies).toHaveLength(time + 1);
      }
      await selector.close();
    });
  });
});
