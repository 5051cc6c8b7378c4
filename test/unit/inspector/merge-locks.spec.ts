import { describe, expect, it } from '@jest/globals';
import type { LockClient } from '../../../lib/core/index.js';
import type { QueuedActivity } from '../../../lib/core/internal/client-activity.js';
import type { ObservedLock } from '../../../lib/core/lock-inspection.js';
import { inTurn, mergeLocks } from '../../../lib/inspector/merge-locks.js';
import { LockCounts } from '../../../lib/inspector/lock-inspector-snapshot.interface.js';
import {
  makeReport,
  parseReport,
  type ProcessReport,
  type ReportedActivity,
} from '../../../lib/inspector/process-report.js';

function activity(change: Partial<ReportedActivity>): ReportedActivity {
  const any = { state: 'held', name: '/locks/a', key: 'a', recipe: 'mutex', since: 100, ids: [] };
  return { ...any, ...change } as ReportedActivity;
}

function report(pid: number, ...activities: Partial<ReportedActivity>[]): ProcessReport {
  const now = { held: 0, waiting: 0, kept: 0, endangered: 0, stalledMs: 0, omitted: 0 };
  const ever = { lost: 0, timedOut: 0, locks: {}, uncounted: 0 };
  return { id: `${pid}`, host: 'h', pid, activity: activities.map(activity), ...now, ...ever };
}

const merge = (...given: Parameters<typeof mergeLocks>) => mergeLocks(...given).locks;
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
    const [lock] = merge(
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
    const [lock] = merge(
      [report(1, { ids: ['uuid:1'], fencingToken: '7' })],
      [lockOf({ ids: ['uuid:1'], state: 'held' })],
      keyOf,
    );
    expect(lock?.holders).toMatchObject([{ pid: 1, fencingToken: '7' }]);
  });

  it('has the waiters without a place on the servers at the end, the longest waiting first', () => {
    const waiting = { state: 'waiting' as const };
    const [lock] = merge(
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
    const [lock] = merge(
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
      const [lock] = merge(
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
      const [lock] = merge(
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
      const [told] = merge([report(1, selector)], [parties], keyOf);
      expect(told).toMatchObject({
        kind: 'leader selector',
        holders: [{ participant: 'java-1' }],
        queue: [{ participant: 'web-1:7' }],
      });
      const [untold] = merge([], [parties], keyOf);
      expect(untold).toMatchObject({ kind: 'mutex', holders: [{ data: 'java-1' }] });
      expect(untold!.holders[0]).not.toHaveProperty('participant');
    });

    it('shortens ids that are long', () => {
      const long = 'x'.repeat(1_000);
      const data = { ids: ['/1'], state: 'held' as const, data: long };
      const [lock] = merge([report(1, { ...follows, ids: ['/2'] })], [lockOf(data)], keyOf);
      expect(lock!.holders[0]!.participant).toBe('x'.repeat(200));
    });
  });

  it('does not believe a process that claims to hold what the servers granted to another one', () => {
    const reports = [report(1, { ids: ['old'] })];
    const locks = merge(reports, [lockOf({ ids: ['new'], state: 'held' })], keyOf);
    expect(locks[0]!.holders).toEqual([{ ids: ['new'] }]);
    expect(merge(reports, [], keyOf)).toEqual([]);
  });

  it('believes it where the servers do not answer', () => {
    const [lock] = merge([report(1, { ids: ['old'] })], undefined, keyOf);
    expect(lock!.holders).toMatchObject([{ ids: ['old'], pid: 1 }]);
  });

  it('shows each key of a multi-lock, whose parts share one id', () => {
    const names = ['/locks/a', '/locks/b', '/locks/c'];
    const held = { ids: ['uuid:1'], state: 'held' as const };
    const one = report(1, ...names.map((name) => ({ name, key: keyOf(name), ids: ['uuid:1'] })));
    const surveyed = names.map((name) => ({ ...lockOf(held), name }));
    const holder = { ids: ['uuid:1'], pid: 1 };
    expect(merge([one], surveyed, keyOf)).toMatchObject(
      ['a', 'b', 'c'].map((key) => ({ key, holders: [holder], queue: [] })),
    );
  });

  describe('with a report that is made up', () => {
    const held = lockOf({ ids: ['A'], state: 'held' });
    const evil = (...activities: Partial<ReportedActivity>[]) => report(666, ...activities);
    const own = report(1, { ids: ['A'], method: 'A.a' });

    it('still shows the locks whose ids the report names', () => {
      const claim = evil({ name: '/locks/x', key: 'x', ids: ['A', 'B'] });
      const ship = {
        ...held,
        name: '/locks/ship',
        parties: [{ ids: ['B'], state: 'held' as const }],
      };
      const locks = merge([own, claim], [held, ship], keyOf);
      expect(locks.map(({ key, holders }) => [key, holders.map(({ pid }) => pid)])).toEqual([
        ['a', [1]],
        ['ship', [undefined]],
      ]);
    });

    it('believes this process about its own locks, and nobody where two others claim an entry', () => {
      const claim = evil({ ids: ['A'], method: 'Evil.e', key: 'z', recipe: 'leaderLatch' });
      const [lock] = merge([own, claim], [held], keyOf);
      expect(lock).toMatchObject({ key: 'a', kind: 'mutex', holders: [{ pid: 1, method: 'A.a' }] });
      const [contested] = merge([report(0), claim, own], [held], keyOf);
      expect(contested!.key).toBe('a');
      expect(contested!.holders).toEqual([
        { ids: ['A'], participant: undefined, since: undefined },
      ]);
    });

    it('does not let one acquire take the places of several', () => {
      const claim = evil({ ids: ['A', 'B', 'C'] });
      const parties = [
        { ids: ['A'], state: 'held' as const },
        { ids: ['B'], state: 'waiting' as const },
        { ids: ['C'], state: 'waiting' as const },
      ];
      const [lock] = merge([report(0), claim], [lockOf(...parties)], keyOf);
      expect([...lock!.holders, ...lock!.queue].map(({ ids }) => ids)).toEqual([
        ['A'],
        ['B'],
        ['C'],
      ]);
      const readers = parties.map(({ ids }) => ({ ids, state: 'held' as const }));
      const read = evil({ recipe: 'readLock', ids: ['A', 'B', 'C'] });
      expect(merge([report(0), read], [lockOf(...readers)], keyOf)[0]!.holders).toHaveLength(3);
    });

    it('leaves room for the locks that the servers know, and counts the others', () => {
      const many = Array.from({ length: 9 }, (_, i) => ({ name: `!${i}`, key: `!${i}` }));
      const claim = evil(...many.map((each) => ({ ...each, state: 'waiting' as const })));
      const { locks, omitted } = mergeLocks([report(0), claim], [held], keyOf, 3);
      expect(locks.map(({ key }) => key)).toEqual(['!0', '!1', 'a']);
      expect(omitted).toBe(7);
    });

    it('takes turns with the other processes', () => {
      const many = evil(...Array.from({ length: 9 }, () => ({ method: 'Evil.e' })));
      const told = inTurn([own, many, report(2, { method: 'B.b' })], 4);
      expect(told.map(({ activity: { method } }) => method)).toEqual([
        ...['A.a', 'Evil.e', 'B.b', 'Evil.e'],
      ]);
    });

    it.each([
      ['ids', { ids: Array.from({ length: 30 }, () => 'A') }],
      ['text', { name: 'n'.repeat(1_000), key: 'k'.repeat(500) }],
    ])('waits for as many turns as its acquires have %s', (_, large) => {
      const many = evil(...Array.from({ length: 9 }, () => ({ ...large, method: 'E.e' })));
      const small = Array.from({ length: 9 }, (__, i) => ({ method: `B.${i}` }));
      const told = inTurn([many, report(2, ...small)], 16);
      expect(told.map(({ activity: { method } }) => method).join(' ')).toBe(
        'B.0 B.1 B.2 E.e B.3 B.4 B.5 B.6 E.e B.7',
      );
    });

    it('shows some of its large acquires where all are large', () => {
      const large = { ids: Array.from({ length: 1_000 }, (_, i) => `${i}`) };
      const reports = Array.from({ length: 100 }, (_, pid) => report(pid, large, large));
      expect(inTurn(reports).length).toBeGreaterThan(40);
    });

    it('is a part of what is merged, however much there is of it', () => {
      const ids = Array.from({ length: 1_000 }, (_, i) => `${i}`);
      const many = Array.from({ length: 1_000 }, () => ({ ids, state: 'waiting' as const }));
      const [lock] = merge([report(0), evil(...many), evil(...many)], [held], keyOf);
      const shown = lock!.queue.flatMap((party) => party.ids);
      expect(shown.length).toBeGreaterThan(25_000);
      expect(shown.length).toBeLessThanOrEqual(50_000);
    });
  });

  it('adds up what processes have counted, also of keys such as __proto__', () => {
    const name = '/locks/__proto__';
    const counted = { ...report(1), locks: { [name]: [2, 3] as const } };
    const parties = [{ ids: ['1'], state: 'held' as const }];
    const locks = [{ name, kind: 'mutex' as const, parties }];
    const [lock] = merge([counted, counted, report(3)], locks, keyOf);
    expect(lock).toMatchObject({ key: '__proto__', lost: 4, timedOut: 6 });
  });
});

describe('A lock that was handed on', () => {
  it('is shown with its present caller, though the servers know the first one', () => {
    const surveyed = lockOf({ ids: ['1'], state: 'held', method: 'A.a' });
    const held = { ids: ['1'], method: 'B.b' };
    const methodIf = (handOffs?: number) =>
      merge([report(1, { ...held, handOffs })], [surveyed], keyOf)[0]!.holders[0];
    expect(methodIf(3)).toMatchObject({ method: 'B.b', handOffs: 3 });
    expect(methodIf()).toMatchObject({ method: 'A.a', handOffs: undefined });
  });
});

describe('The report of another process', () => {
  it('is read as it was written', () => {
    const written = report(1, { method: 'A.a' }, { state: 'waiting' });
    expect(parseReport(JSON.stringify(written))).toEqual(written);
  });

  it('of an earlier version has no locks in danger', () => {
    const former = { kept: undefined, endangered: undefined, stalledMs: undefined };
    const written = { ...report(1), ...former };
    expect(parseReport(JSON.stringify(written))).toEqual(report(1));
  });

  it.each<[string, unknown]>([
    ...['host', 'id'].map((field): [string, unknown] => [field, 'x'.repeat(256)]),
    ...['host', 'pid', 'activity', 'locks'].map((field): [string, unknown] => [field, null]),
    ...['pid', 'held', 'lost', 'omitted'].map((field): [string, unknown] => [field, -1]),
    ['timedOut', 1e300],
    ['endangered', '1'],
    ['kept', -1],
    ['stalledMs', 0.5],
    ['activity', [null]],
    ['activity', { length: 1 }],
    ['activity', Array.from({ length: 1_001 }, () => activity({}))],
    ['locks', []],
    ['locks', { a: [] }],
    ['locks', { a: [1, 'many'] }],
    ['locks', { a: [1, 2, 3] }],
    ...[
      { ids: [7] },
      { ids: 'A' },
      { ids: Array.from({ length: 1_001 }, () => 'A') },
      { participant: 7 },
      { method: 5, recipe: 'leaderLatch' },
      { method: null },
      { fencingToken: 7 },
      { handOffs: '7' },
      { state: 'lost' },
      { recipe: '__proto__' },
      { recipe: 'toString' },
      { since: 1e300 },
      { since: -8.64e15 - 2 },
      { since: '1' },
      { key: 'x'.repeat(5_000) },
    ].map((change): [string, unknown] => ['activity', [activity(change as object)]]),
  ])('is left out when its `%s` makes no sense: %j', (field, value) => {
    expect(parseReport(JSON.stringify({ ...report(1), [field]: value }))).toBeUndefined();
  });

  it.each(['no JSON', 'null', '[]', '7', '['.repeat(9_999)])(
    'is left out when it is none: %.20s',
    (text) => expect(parseReport(text)).toBeUndefined(),
  );

  it('is left out when it is too long, however little it says', () => {
    const padded = JSON.stringify(report(1)).padEnd(1_000_000);
    expect(parseReport(padded)).toBeDefined();
    expect(parseReport(`${padded} `)).toBeUndefined();
  });
});

describe('The report of this process', () => {
  const client = { on: () => () => {} } as unknown as LockClient;
  const made = (maxBytes: number, ...acquires: Partial<QueuedActivity>[]) => {
    const any = { state: 'held', recipe: 'mutex', forMs: 1, holders: ['uuid:1'] } as const;
    const activities = acquires.map((each) => ({ ...any, key: 'k', ...each }));
    const nameOf = (key: string) => `/locks/${encodeURIComponent(key)}`;
    return makeReport('id', { nameOf, activities }, new LockCounts(client), maxBytes);
  };

  it.each<[string, Partial<QueuedActivity>]>([
    ['of 300 characters', { key: 'k'.repeat(300) }],
    ['of 512 bytes, each encoded as three', { key: '\u00e9'.repeat(256) }],
    ['that need escapes', { key: '"\n'.repeat(256) }],
    ['of a long multi-lock', { key: 'k + '.repeat(9_999) }],
    ['with long methods', { method: 'm'.repeat(1_000_000) }],
    ['with many permits', { holders: Array.from({ length: 9_999 }, (_, i) => `permit ${i}`) }],
  ])('is bounded in bytes for keys %s, and counts what has no room', (_, acquire) => {
    for (const maxBytes of [4_096, 16_384, 262_144]) {
      const report = made(maxBytes, ...Array.from({ length: 5_000 }, () => acquire), {});
      const text = JSON.stringify(report);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes);
      expect(report.omitted + report.activity.length).toBe(5_001);
      expect(report.held).toBe(5_001);
      expect(parseReport(text)).toEqual(JSON.parse(text));
    }
  });

  it('leaves the place of an acquire without room to shorter ones', () => {
    const holders = Array.from({ length: 999 }, (_, i) => `permit ${i}`);
    const { activity: told, omitted } = made(4_096, { forMs: 9, holders }, { key: 'short' });
    expect(told).toMatchObject([{ key: 'short' }]);
    expect(omitted).toBe(1);
  });
});
