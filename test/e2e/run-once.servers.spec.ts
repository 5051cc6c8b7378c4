import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Program } from '../faults/support/program.js';
import { eventually } from '../support/time.js';
import { useRedis, useZooKeeper } from '../support/fixtures.js';
import { byTier } from '../support/tier.js';
import { runOnceSuite } from './support/run-once.suite.js';

runOnceSuite('redis');
runOnceSuite('several redis');

/** Length of a tick, in ms. */
const TICK = 900;
/** When in it the replicas make their calls: their clocks differ. */
const OFFSETS = [0, 30, 60];
const AT_LEAST = 480;
/**
 * How late a replica may know what becomes of its call: later, on a machine that stands still, `atLeast` promises nothing.
 * Less than `atLeast` without the offsets; and less than what `atLeast` leaves of a tick, or a late run keeps all others from
 * the next one.
 */
const PATIENCE = 380;
/** How long the name of a replica that has died may stay taken. */
const TIMEOUT = { redis: 1_000, zookeeper: byTier({ quick: 2_000, standard: 2_000, long: 4_000 }) };
const TICKS = byTier({ quick: 12, standard: 12, long: 50 });

interface Report {
  readonly backend: 'redis' | 'zookeeper';
  readonly tick: number;
  readonly ran: boolean;
  readonly late: number;
  /** Will it never end? */
  readonly hangs: boolean;
}

/** What the replicas have reported of each tick on one backend. */
class Record {
  readonly #reports = new Map<number, Report[]>();

  add(report: Report): void {
    this.#reports.set(report.tick, [...this.of(report.tick), report]);
  }

  of(tick: number): readonly Report[] {
    return this.#reports.get(tick) ?? [];
  }

  get ticks(): readonly number[] {
    return [...this.#reports.keys()].sort((a, b) => a - b);
  }

  /** The tick in which a run began that does not end. */
  get hanging(): number | undefined {
    return this.ticks.find((tick) => this.of(tick).some(({ hangs }) => hangs));
  }

  /** Runs that were begun in time. */
  runs(tick: number): number {
    return this.of(tick).filter(({ ran, late }) => ran && late <= PATIENCE).length;
  }

  /** The first tick after that one in which any replica ran. */
  next(after: number): number | undefined {
    return this.ticks.find((tick) => tick > after && this.runs(tick) > 0);
  }

  /** The ticks after `after` in which no replica was late, in the tick before neither. */
  calm(after: number, replicas: number): readonly number[] {
    const isCalm = (tick: number) =>
      this.of(tick).length === replicas && this.of(tick).every(({ late }) => late <= PATIENCE);
    return this.ticks.filter((tick) => tick > after && isCalm(tick) && isCalm(tick - 1));
  }
}

describe('Three replicas on one schedule', () => {
  const records = { redis: new Record(), zookeeper: new Record() };
  const both = Object.values(records);
  const redis = useRedis();
  const zookeeper = useZooKeeper();
  let replicas: Program[] = [];

  beforeAll(async () => {
    const clients = [
      { backend: 'redis', connect: redis().url, watchdogTimeout: TIMEOUT.redis },
      {
        backend: 'zookeeper',
        connect: zookeeper().connectString,
        sessionTimeout: TIMEOUT.zookeeper,
      },
    ].map((options) => JSON.stringify({ name: options.backend, ...options }));
    const url = new URL('./programs/run-once-replica.ts', import.meta.url);
    replicas = OFFSETS.map((offset) => {
      const numbers = [TICK, offset, AT_LEAST, PATIENCE].map(String);
      return new Program(url, [...clients, ...numbers]);
    });
    for (const replica of replicas) expect(await replica.next()).toBe('ready');
  }, 120_000);
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
  });

  /** How replicas have ended that were not to. */
  const ended: string[] = [];
  let killed: Program | undefined;

  async function listenTo(replica: Program): Promise<void> {
    const hasEnded = (error: Error) =>
      void (replica === killed ? undefined : ended.push(error.message));
    for (;;) {
      const report = await replica.next<Report>().catch(hasEnded);
      if (report === undefined) return;
      records[report.backend].add(report);
    }
  }

  const eventuallyOnBoth = (what: string, holds: (record: Record) => unknown) =>
    eventually(what, () => expect(ended).toEqual([]) ?? both.every(holds), {
      within: 240_000,
      every: 50,
    });

  it('run once a tick, also when one of them is killed in mid-run', async () => {
    const start = Date.now() + 200;
    for (const replica of replicas) void listenTo(replica);
    for (const replica of replicas) replica.tell(`${start}`);
    await eventuallyOnBoth('half of the ticks', (it) => it.calm(0, 3).length >= TICKS / 2);

    const [victim] = replicas as [Program]; // which comes first in most ticks
    victim.tell('hang');
    await eventuallyOnBoth('it hangs', ({ hanging }) => hanging);
    await eventuallyOnBoth('the others find that', (it) => it.ticks.at(-1)! >= it.hanging! + 3);
    killed = victim;
    await victim.stop();
    const killedAt = (Date.now() - start) / TICK;
    await eventuallyOnBoth('others run', (it) => it.next(it.hanging!));
    await eventuallyOnBoth(
      'the other half',
      (it) => it.calm(it.next(it.hanging!)!, 2).length >= TICKS / 2,
    );

    for (const [backend, record] of Object.entries(records)) {
      const hanging = record.hanging!;
      const next = record.next(hanging)!;
      const early = record.calm(0, 3).filter((tick) => tick <= hanging);
      const calm = [...early, ...record.calm(next, 2)];
      expect(calm.length).toBeGreaterThanOrEqual(TICKS);
      const runs = calm.map((tick) => [backend, tick, record.runs(tick)]);
      expect(runs).toEqual(calm.map((tick) => [backend, tick, 1]));
      expect(record.ticks.filter((tick) => record.runs(tick) > 1)).toEqual([]);
      const silence = (next - killedAt) * TICK;
      expect(silence).toBeLessThan(TIMEOUT[backend as Report['backend']] + 5_000); // some of which is the machine's
    }
  }, 600_000);
});
