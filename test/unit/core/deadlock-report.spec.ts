import { describe, expect, it, jest } from '@jest/globals';
import { systemClock } from '../../../lib/core/clock.js';
import { DeadlockExchange } from '../../../lib/core/deadlocks/deadlock-exchange.js';
import {
  type DeadlockReport,
  LONGEST_REPORT,
  MOST_WAITS,
  parseDeadlockReport,
  type ReportedWait,
  writeReport,
} from '../../../lib/core/deadlocks/deadlock-report.js';
import { PeerGraph } from '../../../lib/core/deadlocks/peer-graph.js';
import { seededRandom } from '../../support/seeded-random.js';
import { byTier } from '../../support/tier.js';

const ROUNDS = byTier({ quick: 2_000, standard: 5_000, long: 100_000 });

/** Longest CPU time that 200 searches in made-up reports may take, in ms: nothing else runs meanwhile. */
const STALL = 1_000;

const wait = (change: object = {}): ReportedWait => ({
  ...{ id: 'w1', since: 1, method: 'Orders.pay', waitsFor: ['stock'] },
  inside: [{ name: 'order', holder: 'Orders.open' }],
  ...change,
});
const report = (change: object = {}): DeadlockReport => ({
  ...{ host: 'web-1', pid: 7, client: 'default', waits: [wait()] },
  ...change,
});
const parsed = (change: object) => parseDeadlockReport(JSON.stringify(report(change)));
const keyOf = (name: string) => name;

describe('A report of waits inside of locks', () => {
  it('is read as it was written', () => {
    expect(parseDeadlockReport(writeReport(report(), LONGEST_REPORT))).toEqual(report());
  });

  it('may have fields of later versions, which are not kept', () => {
    const later = { ...report(), waits: [{ ...wait(), later: 1 }], later: {} };
    expect(parseDeadlockReport(JSON.stringify(later))).toEqual(report());
  });

  it('has the oldest waits that fit, and never more bytes than may be', () => {
    const waits = Array.from({ length: 3_000 }, (_, i) => wait({ id: `w${i}`, since: i }));
    const text = writeReport(report({ waits }), LONGEST_REPORT);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(LONGEST_REPORT);
    const { waits: read } = parseDeadlockReport(text)!;
    expect(read.length).toBeGreaterThan(100);
    expect(read).toEqual(waits.slice(0, read.length));
  });

  it('shows no control characters in what is printed', () => {
    const seen = parsed({
      ...{ host: 'a\nb', client: '\u001b[2J' },
      waits: [wait({ method: 'x\u2028y\u202ez', inside: [{ name: 'n', holder: '\r' }] })],
    })!;
    expect([seen.host, seen.client]).toEqual(['a?b', '?[2J']);
    expect(seen.waits[0]).toMatchObject({ method: 'x?y?z', inside: [{ holder: '?' }] });
  });

  it.each<[string, object]>([
    ['a text that is too long', { host: 'x'.repeat(256) }],
    ['a name that is too long', { waits: [wait({ waitsFor: ['x'.repeat(4_097)] })] }],
    ['no process', { pid: 1.5 }],
    ['no waits', { waits: { length: 1 } }],
    ['too many waits', { waits: Array(MOST_WAITS + 1).fill({}) }],
    ['no time', { waits: [wait({ since: null })] }],
    ['no names', { waits: [wait({ waitsFor: 'stock' })] }],
    ['too many locks', { waits: [wait({ inside: Array(101).fill({ name: 'n' }) })] }],
    ['a lock that is none', { waits: [wait({ inside: [null] })] }],
    ['a method that is none', { waits: [wait({ method: {} })] }],
  ])('with %s is not read', (_, change) => {
    expect(parsed(change)).toBeUndefined();
  });

  it.each([
    ['empty', ''],
    ['null', 'null'],
    ['a list', '[]'],
    ['cut off', '{"waits":'],
    ['too long', JSON.stringify({ ...report(), later: 'x'.repeat(LONGEST_REPORT) })],
  ])('that is %s is not read', (_, text) => {
    expect(parseDeadlockReport(text)).toBeUndefined();
  });
});

describe('Reports that others have made up', () => {
  const NASTY: readonly unknown[] = [
    ...[null, true, 0, -1, 0.5, 1e300, 2 ** 53, [], {}, [[]], [null], undefined],
    ...['', '__proto__', 'constructor', 'order', 'stock', 'own', 'w1', '\ud800', 'x'.repeat(5_000)],
    ...[{ length: 1e9 }, { toString: 1 }, { name: 'order' }],
  ];
  const random = seededRandom(11);
  const any = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;

  /** Replaces one of its values, at any depth. */
  function change(value: object): void {
    const [key, inner] = any<[string, unknown] | undefined>(Object.entries(value)) ?? [];
    if (key === undefined) return;
    if (typeof inner === 'object' && inner !== null && random() < 0.7) change(inner);
    else Object.assign(value, { [key]: structuredClone(any(NASTY)) });
  }

  it(`break nothing, in ${ROUNDS} rounds`, () => {
    const own = report({ waits: [wait({ id: 'own', since: 5 })] });
    for (let round = 0; round < ROUNDS; round++) {
      const foreign = report({
        host: 'web-2',
        waits: [wait({ waitsFor: ['order'], inside: [{ name: 'stock' }] }), wait({ id: 'w2' })],
      });
      for (let i = Math.floor(random() * 4); i > 0; i--) change(foreign);
      const text = JSON.stringify(foreign);
      const cut = random() < 0.2 ? text.slice(0, Math.floor(random() * text.length)) : text;
      const read = parseDeadlockReport(cut);
      const circle = new PeerGraph(own, read ? [read] : []).circleOf('own', keyOf);
      if (circle) expect(circle.acquires).toHaveLength(2);
    }
  });

  it('delay no other work, however many waits they name', () => {
    const names = Array.from({ length: 100 }, (_, i) => `n${i}`);
    const inside = names.map((name) => ({ name }));
    const others = [1, 2, 3].map((of) =>
      report({
        host: `web-${of}`,
        waits: Array.from({ length: MOST_WAITS }, (_, i) =>
          wait({ id: `${of}:${i}`, since: -i, waitsFor: names, inside }),
        ),
      }),
    );
    const own = Array.from({ length: 200 }, (_, i) =>
      wait({ id: `own${i}`, since: 2, waitsFor: names, inside: [{ name: 'mine' }] }),
    );
    const graph = new PeerGraph(report({ waits: own }), others);
    const before = process.cpuUsage();
    for (const { id } of own) expect(graph.circleOf(id, keyOf)).toBeUndefined();
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(STALL);
  });

  it('take the place of no wait of this client', () => {
    const own = report({ waits: [wait({ id: 'own' })] });
    const [there, here] = [[{ name: 'there' }], [{ name: 'here' }]];
    const others = [
      wait({ id: 'own', since: 5, waitsFor: ['there'], inside: here }),
      wait({ id: 'w2', waitsFor: ['here'], inside: there }),
    ];
    const graph = new PeerGraph(own, [report({ host: 'web-2', waits: others })]);
    expect(graph.circleOf('own', keyOf)).toBeUndefined();
  });
});

describe('A circle', () => {
  it('is found behind many waits for one lock', () => {
    const crowd = (lock: string, next: string) =>
      Array.from({ length: 100 }, (_, i) =>
        wait({ id: `${lock}${i}`, waitsFor: [next], inside: [{ name: lock }] }),
      );
    const waits = [...crowd('a', 'b'), ...crowd('b', 'c'), ...crowd('c', 'mine')];
    const own = report({
      waits: [wait({ id: 'own', since: 5, waitsFor: ['a'], inside: [{ name: 'mine' }] })],
    });
    const circle = new PeerGraph(own, [report({ waits })]).circleOf('own', keyOf);
    expect(circle?.acquires.map(({ waitsFor }) => waitsFor)).toEqual(['a', 'b', 'c', 'mine']);
  });
});

describe('Of two circles', () => {
  it('the same one is found, whichever report comes first', () => {
    const own = report({ waits: [wait({ id: 'own', since: 5 })] });
    const others = ['a', 'b'].map((id) =>
      report({ waits: [wait({ id, waitsFor: ['order'], inside: [{ name: 'stock' }] })] }),
    );
    const ids = [others, others.toReversed()].map(
      (reports) => new PeerGraph(own, reports).circleOf('own', keyOf)?.id,
    );
    expect(ids[0]).toBeDefined();
    expect(ids[1]).toBe(ids[0]);
  });
});

describe('An exchange', () => {
  it('that was closed listens no more, and asks nothing', async () => {
    const exchange = jest.fn(() => undefined);
    const closed = new DeadlockExchange(systemClock, { exchange }, () => report());
    await closed.close();
    expect(await closed.ask(300)).toEqual([]);
    expect(exchange).not.toHaveBeenCalled();
  });
});
