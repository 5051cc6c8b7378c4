import { describe, expect, it } from '@jest/globals';
import type { ObservedLock } from '../../../lib/core/lock-inspection.js';
import { mergeLocks } from '../../../lib/inspector/merge-locks.js';
import {
  KINDS,
  parseReport,
  type ProcessReport,
  type ReportedActivity,
} from '../../../lib/inspector/process-report.js';
import { seededRandom } from '../../support/seeded-random.js';
import { byTier } from '../../support/tier.js';
import { FakePage } from './support/page.js';

const ROUNDS = byTier({ quick: 1_000, standard: 3_000, long: 100_000 });

/** Longest time that one report, or the page of it, may take, in ms: nothing else runs meanwhile. */
const STALL = 20;

const NASTY: readonly unknown[] = [
  ...[null, true, 0, -1, 0.5, 5, 1e300, 8.64e15, 8.64e15 + 2, 2 ** 53, [], {}, [[]], [null]],
  ...['', '__proto__', 'constructor', 'toString', 'held', 'leaderLatch', 'pay', 'ship', 'A', 'B'],
  ...['<img src=x onerror=alert(1)>', '\ud800', '\u202e\u0000', 'x'.repeat(5_000), '\n\n'],
  ...[{ length: 1e9 }, { toString: 1 }, { __proto__: null, constructor: 1 }],
];

const activity = (change: Partial<ReportedActivity>): ReportedActivity => ({
  ...{ state: 'held', name: 'pay', key: 'pay', recipe: 'mutex', method: 'Orders.pay', since: 1 },
  ids: ['A'],
  ...change,
});

const reportOf = (id: string, ...activities: ReportedActivity[]): ProcessReport => ({
  ...{ id, host: 'web', pid: 7, held: 1, waiting: 1, lost: 0, timedOut: 0 },
  ...{ kept: 0, endangered: 0, stalledMs: 0 },
  ...{ omitted: 0, uncounted: 0, locks: { pay: [1, 2] } },
  activity: activities,
});

/** What this process and the servers know, whatever others report. */
const OWN = reportOf('own', activity({}), activity({ name: 'ship', key: 'ship', ids: ['B'] }));
const SURVEYED = ['pay', 'ship'].map((name, i): ObservedLock => ({
  name,
  kind: 'mutex',
  parties: [{ ids: ['AB'[i]!], state: 'held' }],
}));

/** Reports that make no sense, or too much of it. */
class Mutations {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  next(): string {
    const isLong = this.#random() < 1 / 200;
    const report = structuredClone(isLong ? this.#long() : this.#short()) as object;
    for (let i = this.#below(4); i > 0; i--) this.#change(report);
    const text = JSON.stringify(report);
    return this.#random() < 0.2 ? this.#damage(text) : text;
  }

  #short(): ProcessReport {
    const recipes = Object.keys(KINDS) as ReportedActivity['recipe'][];
    const made = Array.from({ length: this.#below(6) }, () =>
      activity({
        state: this.#pick(['held', 'waiting']),
        name: this.#pick(['pay', 'ship', 'other']),
        recipe: this.#pick(recipes),
        participant: this.#pick([undefined, 'web-1']),
        since: this.#below(2) * 8.64e15 - this.#below(2) * 8.64e15,
        ids: this.#pick([['A'], ['A', 'B'], [], ['C']]),
      }),
    );
    return reportOf('made up', ...made);
  }

  #long(): ProcessReport {
    const ids = Array.from({ length: this.#pick([1, 20]) }, (_, i) => `${'i'.repeat(30)}${i}`);
    const long = Array.from({ length: 1_000 }, (_, i) =>
      activity({ state: 'waiting', name: `${i}`, key: `${i}`, ids }),
    );
    return reportOf('long', ...long);
  }

  /** Replaces, removes or repeats something anywhere in it. */
  #change(object: object): void {
    const [field, value] = this.#pick(Object.entries(object) as [string, unknown][]) ?? [];
    if (field === undefined) return;
    if (typeof value === 'object' && value !== null && this.#random() < 0.7)
      return this.#change(value);
    const choice = this.#below(10);
    if (choice === 0) Reflect.deleteProperty(object, field);
    else if (choice === 1 && Array.isArray(value))
      value.push(...(value as unknown[]).slice(0, 600));
    else Object.assign(object, { [field]: structuredClone(this.#pick(NASTY)) });
  }

  #damage(text: string): string {
    const at = this.#below(text.length);
    const rest = text.slice(at + this.#below(20));
    return (
      text.slice(0, at) + this.#pick(['', '"', '[', '{"a":', '\0', '['.repeat(9_999), '1']) + rest
    );
  }

  #below(most: number): number {
    return Math.floor(this.#random() * most);
  }

  #pick<T>(choices: readonly T[]): T {
    return choices[this.#below(choices.length)]!;
  }
}

/**
 * What `work` gives, within the time. A run may take long because of something else, on the machine or in this process: so the
 * fastest of some counts, and no more of it than this process was busy.
 */
function quickly<T>(what: string, text: string, work: () => T): T {
  let fastest = Infinity;
  for (let i = 0; i < 100; i++) {
    const before = performance.now();
    const usage = process.cpuUsage();
    const result = work();
    const { user, system } = process.cpuUsage(usage);
    fastest = Math.min(fastest, performance.now() - before, (user + system) / 1_000);
    if (fastest < STALL) return result;
  }
  throw new Error(
    `${what} takes ${fastest} ms for ${text.length} characters: ${text.slice(0, 300)}`,
  );
}

describe('Reports of others that make no sense', () => {
  it(`stall nothing, break nothing, and hide no lock: ${ROUNDS} of them`, () => {
    const mutations = new Mutations(20_261_123);
    const page = new FakePage();
    let understood = 0;
    for (let i = 0; i < ROUNDS; i++) {
      const text = mutations.next();
      const report = quickly('reading', text, () => parseReport(text));
      if (report === undefined) continue;
      understood += 1;
      const reports = [OWN, report];
      const { locks } = quickly('merging', text, () => mergeLocks(reports, SURVEYED, String, 500));
      for (const [j, name] of ['pay', 'ship'].entries()) {
        const lock = locks.find((each) => each.name === name);
        const holder = { ids: ['AB'[j]], host: 'web', pid: 7, method: 'Orders.pay', since: 1 };
        expect(lock).toMatchObject({ key: name, kind: 'mutex', holders: [holder] });
      }
      const client = {
        name: 'default',
        health: 'up',
        state: 'UP',
        problems: [],
        locks,
        omitted: 0,
      };
      const processes = reports.map(({ activity: _, ...process }) => process);
      const snapshot = JSON.stringify({ clients: [{ ...client, processes }] });
      quickly('drawing', text, () => page.receive(snapshot));
      expect(page.text).not.toContain('cannot be shown');
    }
    expect(understood).toBeGreaterThan(ROUNDS / 10);
    expect(understood).toBeLessThan(ROUNDS * 0.9);
  }, 1_800_000);

  it.each([
    ['no JSON', 'cannot be shown'],
    ['null', 'cannot be shown'],
    ['{"clients":7}', 'cannot be shown'],
    ['{"clients":[null]}', 'cannot be shown'],
    ['{"clients":[{"name":"a","problems":[],"processes":[],"locks":[null]}]}', 'cannot be shown'],
  ])('leave a page that is told %s able to show the next snapshot', (data, notice) => {
    const page = new FakePage();
    page.receive(data);
    expect(page.text).toContain(notice);
    page.receive('{"clients":[{"name":"shop","problems":[],"processes":[],"locks":[]}]}');
    expect(page.text).toContain('No lock is held or waited for.');
  });

  it('have times that the page shows, even impossible ones', () => {
    const page = new FakePage();
    const holder = { ids: ['A'], host: 'web', pid: 1, since: 1e300 };
    const lock = { key: 'pay', name: 'pay', kind: 'mutex', holders: [holder], queue: [] };
    const client = { name: 'shop', problems: [], processes: [], locks: [lock], omitted: 0 };
    page.receive(JSON.stringify({ clients: [client] }));
    expect(page.text).toContain('pay');
    expect(page.text).not.toContain('cannot be shown');
  });
});
