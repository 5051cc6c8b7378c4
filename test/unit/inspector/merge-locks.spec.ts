import { describe, expect, it } from '@jest/globals';
import type { ObservedLock } from '../../../lib/core/lock-inspection.js';
import { mergeLocks } from '../../../lib/inspector/merge-locks.js';
import {
  parseReport,
  type ProcessReport,
  type ReportedActivity,
} from '../../../lib/inspector/process-report.js';

function activity(change: Partial<ReportedActivity>): ReportedActivity {
  const any = { state: 'held', name: '/locks/a', key: 'a', recipe: 'mutex', since: 100, ids: [] };
  return { ...any, ...change } as ReportedActivity;
}

function report(pid: number, ...activities: Partial<ReportedActivity>[]): ProcessReport {
  const counts = { held: 0, waiting: 0, lost: 0, timedOut: 0, locks: {} };
  return { id: `${pid}`, host: 'h', pid, activity: activities.map(activity), ...counts };
}

const keyOf = (name: string) => name.slice('/locks/'.length);
const lockOf = (...parties: ObservedLock['parties']): ObservedLock => ({
  name: '/locks/a',
  kind: 'mutex',
  parties,
});

describe('What servers and processes report, together', () => {
  it('is the order of the servers with the methods of the processes', () => {
    const surveyed = lockOf(
      { ids: ['/1'], state: 'held', since: 7, data: 'ours', fencingToken: '5' },
      { ids: ['/2'], state: 'waiting', since: 8, data: '10.0.0.1' },
      { ids: ['/3'], state: 'waiting', since: 9, data: 'ours' },
    );
    const [lock] = mergeLocks(
      [
        report(1, { state: 'waiting', ids: ['/3'], method: 'C.c', since: 30 }),
        report(2, { ids: ['/1'], method: 'A.a', since: 10 }),
      ],
      [surveyed],
      keyOf,
    );
    expect(lock).toEqual({
      key: 'a',
      name: '/locks/a',
      kind: 'mutex',
      lost: 0,
      timedOut: 0,
      holders: [{ ids: ['/1'], host: 'h', pid: 2, method: 'A.a', since: 10, fencingToken: '5' }],
      queue: [
        { ids: ['/2'], since: 8, data: '10.0.0.1' },
        { ids: ['/3'], host: 'h', pid: 1, method: 'C.c', since: 30 },
      ],
    });
  });

  it('has the fencing token that a process knows, where the servers do not report it', () => {
    const [lock] = mergeLocks(
      [report(1, { ids: ['uuid:1'], fencingToken: '7' })],
      [lockOf({ ids: ['uuid:1'], state: 'held' })],
      keyOf,
    );
    expect(lock?.holders).toMatchObject([{ pid: 1, fencingToken: '7' }]);
  });

  it('has the waiters without a place on the servers at the end, the longest waiting first', () => {
    const waiting = { state: 'waiting' as const };
    const [lock] = mergeLocks(
      [
        report(1, { ...waiting, method: 'late', since: 30 }),
        report(2, { ...waiting, method: 'early', since: 20, ids: ['not on the server'] }),
      ],
      [lockOf({ ids: ['java'], state: 'held' }, { ids: ['queued'], state: 'waiting' })],
      keyOf,
    );
    expect(lock!.queue.map(({ method, ids }) => method ?? ids[0])).toEqual([
      'queued',
      'early',
      'late',
    ]);
  });

  it('shows the permits of one acquire, and the servers of one lock, as one holder', () => {
    const [lock] = mergeLocks(
      [report(1, { recipe: 'semaphore', ids: ['p1', 'p2'] })],
      [lockOf({ ids: ['p1'], state: 'held' }, { ids: ['p2'], state: 'held' })],
      keyOf,
    );
    expect(lock!.holders).toMatchObject([{ ids: ['p1', 'p2'], pid: 1 }]);
    expect(lock!.kind).toBe('semaphore');
  });

  describe('of an election', () => {
    const led = { recipe: 'leaderLatch', participant: 'web-1:7' } as const;
    const follows = { ...led, state: 'waiting' } as const;

    it('is the leader, and the followers in their order, each with its id', () => {
      const surveyed = lockOf(
        { ids: ['/1'], state: 'held', since: 7, data: 'web-1:7', fencingToken: '5' },
        { ids: ['/2'], state: 'waiting', since: 8, data: 'java-1' },
        { ids: ['/3'], state: 'waiting', since: 9, data: 'web-2:7' },
      );
      const [lock] = mergeLocks(
        [
          report(2, { ...follows, ids: ['/3'], participant: 'web-2:7', since: 30 }),
          report(1, { ...led, ids: ['/1'], since: 10 }),
        ],
        [surveyed],
        keyOf,
      );
      expect(lock).toMatchObject({
        kind: 'leader latch',
        holders: [{ ids: ['/1'], pid: 1, participant: 'web-1:7', since: 10, fencingToken: '5' }],
        queue: [
          { ids: ['/2'], participant: 'java-1', since: 8 },
          { ids: ['/3'], pid: 2, participant: 'web-2:7', since: 30 },
        ],
      });
      expect(lock!.queue[0]).not.toHaveProperty('data');
    });

    it('has the id that a leader on Redis has asked with, and followers that wait in their process only', () => {
      const [lock] = mergeLocks(
        [report(2, { ...follows, ids: ['uuid:2'], participant: 'web-2:7' })],
        [lockOf({ ids: ['uuid:1'], state: 'held', pid: 1, method: 'web-1:7' })],
        keyOf,
      );
      expect(lock!.holders).toEqual([{ ids: ['uuid:1'], pid: 1, participant: 'web-1:7' }]);
      expect(lock!.queue).toMatchObject([{ pid: 2, participant: 'web-2:7' }]);
    });

    it('is one of a selector where a process reports that, and a mutex otherwise', () => {
      const parties = lockOf({ ids: ['/1'], state: 'held', data: 'java-1' });
      const selector = { ...follows, recipe: 'leaderSelector', ids: ['/2'] } as const;
      const [told] = mergeLocks([report(1, selector)], [parties], keyOf);
      expect(told).toMatchObject({
        kind: 'leader selector',
        holders: [{ participant: 'java-1' }],
        queue: [{ participant: 'web-1:7' }],
      });
      const [untold] = mergeLocks([], [parties], keyOf);
      expect(untold).toMatchObject({ kind: 'mutex', holders: [{ data: 'java-1' }] });
      expect(untold!.holders[0]).not.toHaveProperty('participant');
    });

    it('shortens ids that are long', () => {
      const long = 'x'.repeat(1_000);
      const data = { ids: ['/1'], state: 'held' as const, data: long };
      const [lock] = mergeLocks([report(1, { ...follows, ids: ['/2'] })], [lockOf(data)], keyOf);
      expect(lock!.holders[0]!.participant).toBe('x'.repeat(200));
    });
  });

  it('does not believe a process that claims to hold what the servers granted to another one', () => {
    const reports = [report(1, { ids: ['old'] })];
    const locks = mergeLocks(reports, [lockOf({ ids: ['new'], state: 'held' })], keyOf);
    expect(locks[0]!.holders).toEqual([{ ids: ['new'] }]);
    expect(mergeLocks(reports, [], keyOf)).toEqual([]);
  });

  it('believes it where the servers do not answer', () => {
    const [lock] = mergeLocks([report(1, { ids: ['old'] })], undefined, keyOf);
    expect(lock!.holders).toMatchObject([{ ids: ['old'], pid: 1 }]);
  });

  it('adds up what processes have counted, also of keys such as __proto__', () => {
    const name = '/locks/__proto__';
    const counted = { ...report(1), locks: { [name]: [2, 3] as const } };
    const parties = [{ ids: ['1'], state: 'held' as const }];
    const locks = [{ name, kind: 'mutex' as const, parties }];
    const [lock] = mergeLocks([counted, counted, report(3)], locks, keyOf);
    expect(lock).toMatchObject({ key: '__proto__', lost: 4, timedOut: 6 });
  });
});

describe('The report of another process', () => {
  it('is read as it was written', () => {
    const written = report(1, { method: 'A.a' }, { state: 'waiting' });
    expect(parseReport(JSON.stringify(written))).toEqual(written);
  });

  it.each([
    'no JSON',
    'null',
    '[]',
    JSON.stringify({ ...report(1), host: 7 }),
    JSON.stringify({ ...report(1), locks: { a: [1, 'many'] } }),
    JSON.stringify({ ...report(1), locks: null }),
    JSON.stringify({ ...report(1), activity: [null] }),
    JSON.stringify(report(1, { ids: [7 as unknown as string] })),
    JSON.stringify(report(1, { participant: 7 as unknown as string })),
    JSON.stringify(report(1, { state: 'lost' as 'held' })),
  ])('is left out when it makes no sense: %s', (text) => {
    expect(parseReport(text)).toBeUndefined();
  });
});
