import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Program } from '../faults/support/program.js';
import { eventually } from '../support/time.js';
import { useRedis, useZooKeeper } from '../support/fixtures.js';
import { byTier } from '../support/tier.js';

/** How often the leaders are killed. */
const KILLS = Number(process.env.LEADER_KILLS ?? byTier({ quick: 1, standard: 1, long: 3 }));
const REPLICAS = 3;
/** The session timeout on ZooKeeper, the watchdog timeout on Redis, in ms. */
const TIMEOUT = { redis: 2_000, zookeeper: byTier({ quick: 2_000, standard: 2_000, long: 4_000 }) };
/**
 * How long it may take, after that, until another replica leads, in ms. On a machine that keeps up it is the unit of time
 * of the ZooKeeper server, 500 ms, and some round trips; the rest is for one that does not.
 */
const TAKEOVER = 5_000;

/** Length of a tick, in ms. */
const TICK = 1_000;

/** A run further than that from any second, in ms, is for none in particular: a timer was late. */
const CERTAIN = 400;

/** A run of a job on the leader. */
interface TickRun {
  readonly backend: 'redis' | 'zookeeper';
  /** When it began, in ms since 1970. */
  readonly at: number;
  /** When the timer of its replica fired that it was for. */
  readonly firedAt: number;
  /** Of the replica. */
  readonly pid: number;
  readonly token: string;
}

/** What replicas have written of their runs on one backend, in the order in which they have run. */
class TickRecord {
  constructor(
    readonly backend: TickRun['backend'],
    private readonly file: string,
  ) {}

  get runs(): TickRun[] {
    if (!existsSync(this.file)) return [];
    const lines = readFileSync(this.file, 'utf8').split('\n').slice(0, -1);
    const runs = lines.map((line) => JSON.parse(line) as TickRun);
    return runs.filter(({ backend }) => backend === this.backend);
  }

  /** The replica that has run last. */
  get leader(): number | undefined {
    return this.runs.at(-1)?.pid;
  }

  /**
   * How many replicas have run each tick. One alone may seem to run a tick twice: a timer that fires most of a second late is
   * close to the next tick.
   */
  get replicasOfTicks(): number[] {
    const replicas = new Map<number, Set<number>>();
    for (const { at, pid } of this.runs) {
      const tick = Math.round(at / TICK);
      if (Math.abs(at - tick * TICK) <= CERTAIN)
        replicas.set(tick, (replicas.get(tick) ?? new Set()).add(pid));
    }
    return [...replicas.values()].map(({ size }) => size);
  }

  /** The firings of timers that have led to more than one run. */
  get repeated(): string[] {
    const firings = this.runs.map(({ pid, firedAt }) => `${pid} ${firedAt}`);
    return firings.filter((firing, i) => firings.indexOf(firing) < i);
  }

  /** The leaderships in their order, as `pid token`: each once, unless an older one has run after a newer. */
  get reigns(): string[] {
    const all = this.runs.map(({ pid, token }) => `${pid} ${token}`);
    return all.filter((reign, i) => reign !== all[i - 1]);
  }

  /** The longest time from one run to the next, in ms. */
  get longestGap(): number {
    const { runs } = this;
    const gaps = runs.slice(1).map(({ at }, i) => at - runs[i]!.at);
    return Math.max(...gaps);
  }

  /** From then to the next run of another replica, in ms. */
  silence(from: number, victim: number): number | undefined {
    const next = this.runs.find(({ at, pid }) => at > from && pid !== victim);
    return next && next.at - from;
  }

  /** How often others than that replica have run since then. */
  runsSince(from: number, victim: number): number {
    return this.runs.filter(({ at, pid }) => at > from && pid !== victim).length;
  }
}

interface Kill {
  readonly at: number;
  readonly victims: Readonly<Record<TickRecord['backend'], number>>;
}

describe('Three replicas with @LeaderOnly on a cron of one second', () => {
  const folder = mkdtempSync(join(tmpdir(), 'leader-replicas-'));
  const file = join(folder, 'runs');
  const records = [new TickRecord('redis', file), new TickRecord('zookeeper', file)];
  const started: Program[] = [];
  /** By their process ids. */
  const replicas = new Map<number, Program>();
  const kills: Kill[] = [];
  let clients: string[];
  const redis = useRedis();
  const zookeeper = useZooKeeper();

  beforeAll(async () => {
    const options = [
      { backend: 'redis', connect: redis().url, watchdogTimeout: TIMEOUT.redis },
      {
        backend: 'zookeeper',
        connect: zookeeper().connectString,
        sessionTimeout: TIMEOUT.zookeeper,
      },
    ];
    clients = options.map((each) => JSON.stringify({ name: each.backend, ...each }));
    await Promise.all(Array.from({ length: REPLICAS }, start));
  }, 300_000);
  afterAll(async () => {
    await Promise.all(started.map((replica) => replica.stop()));
    await rm(folder, { recursive: true, force: true });
  });

  async function start(): Promise<void> {
    const url = new URL('./programs/leader-replica.ts', import.meta.url);
    const replica = new Program(url, [...clients, file]);
    started.push(replica);
    replicas.set(await replica.next<number>(), replica);
  }

  async function kill(pid: number): Promise<void> {
    await replicas.get(pid)!.stop();
  }

  const eventuallyOnBoth = (what: string, holds: (record: TickRecord) => boolean) =>
    eventually(what, () => records.every(holds), { within: 60_000, every: 50 });

  /** Kills both leaders, some while after a tick; resolves when others lead, and as many replicas as before are up. */
  async function killTheLeaders(round: number): Promise<void> {
    const ran = new Map(records.map((record) => [record, record.runs.length]));
    await eventuallyOnBoth('the next tick', (record) => record.runs.length > ran.get(record)!);
    await delay((round * 370) % TICK); // at another time of the tick each time, also in mid-run
    const [onRedis, onZooKeeper] = records.map(({ leader }) => leader!) as [number, number];
    const victims = { redis: onRedis, zookeeper: onZooKeeper };
    const at = Date.now();
    kills.push({ at, victims });
    const dying = [...new Set(Object.values(victims))];
    await Promise.all(dying.map(kill));
    const restarted = dying.map(start);
    await eventuallyOnBoth('others run', (it) => it.runsSince(at, victims[it.backend]) >= 2);
    await Promise.all(restarted);
  }

  it(
    `run once a tick, also when the leaders are killed (${KILLS} times)`,
    async () => {
      await eventuallyOnBoth('one leads', ({ runs }) => runs.length >= 2);
      for (let round = 1; round <= KILLS; round++) await killTheLeaders(round);

      for (const record of records) {
        const { backend, reigns, replicasOfTicks, longestGap } = record;
        expect(replicasOfTicks.filter((replicas) => replicas > 1)).toEqual([]);
        expect(replicasOfTicks.length).toBeGreaterThan(KILLS);
        expect(record.repeated).toEqual([]);
        expect(reigns.length).toBeGreaterThan(KILLS);
        const tokens = reigns.map((reign) => BigInt(reign.split(' ')[1]!));
        expect(tokens.slice(1).filter((token, i) => token <= tokens[i]!)).toEqual([]);

        const silences = kills.map(({ at, victims }) => record.silence(at, victims[backend])!);
        const bound = TIMEOUT[backend] + TAKEOVER + TICK;
        expect(Math.max(...silences)).toBeLessThan(bound);
        expect(longestGap).toBeLessThan(bound + TICK); // the kill may come just before a tick
        if (process.env.LEADER_KILLS)
          console.info(
            `${backend}: ${KILLS} leaders killed, ${replicasOfTicks.length} ticks run, none twice; from the kill to the next run ` +
              `${Math.min(...silences)} to ${Math.max(...silences)} ms, longest gap ${longestGap} ms`,
          );
      }
    },
    120_000 + KILLS * 120_000,
  );
});
