import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Program } from '../integration/support/program.js';
import { eventually } from '../support/eventually.js';
import { RedisServer } from '../support/redis-server.js';
import { ZooKeeperServer } from '../support/zookeeper-server.js';
import { TICK, TickRecord } from './support/tick-record.js';

/** How often the leaders are killed. */
const KILLS = Number(process.env.LEADER_KILLS ?? 3);
const REPLICAS = 3;
/** The session timeout on ZooKeeper, the watchdog timeout on Redis, in ms. */
const TIMEOUT = { redis: 2_000, zookeeper: 4_000 };
/**
 * How long it may take, after that, until another replica leads, in ms. On a machine that keeps up it is the unit of time
 * of the ZooKeeper server, 500 ms, and some round trips; the rest is for one that does not.
 */
const TAKEOVER = 5_000;

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
  let redis: RedisServer | undefined;
  let zookeeper: ZooKeeperServer | undefined;

  beforeAll(async () => {
    redis = await RedisServer.start();
    zookeeper = await ZooKeeperServer.start();
    const options = [
      { backend: 'redis', connect: redis.url, watchdogTimeout: TIMEOUT.redis },
      {
        backend: 'zookeeper',
        connect: zookeeper.connectString,
        sessionTimeout: TIMEOUT.zookeeper,
      },
    ];
    clients = options.map((each) => JSON.stringify({ name: each.backend, ...each }));
    await Promise.all(Array.from({ length: REPLICAS }, start));
  }, 300_000);
  afterAll(async () => {
    await Promise.all(started.map((replica) => replica.stop()));
    await redis?.stop();
    await zookeeper?.stop();
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
    `run once a tick, also when the leader is killed ${KILLS} times`,
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
