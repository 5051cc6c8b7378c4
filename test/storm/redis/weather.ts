import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../../support/time.js';
import { RedisServer, replicated } from '../../support/redis-server.js';
import type { Findings } from './findings.js';
import type { UnrulyConnection, UnrulyProxy } from './unruly-proxy.js';

/** Maximum time that writes wait for the end of a demotion, in ms. */
const PAUSE = 8_000;

/** Two servers: a primary and its replica. */
export class PrimaryAndReplica {
  /** Number of demotions. */
  epoch = 0;
  #isChanging = false;
  #primary: RedisServer;

  private constructor(readonly all: readonly RedisServer[]) {
    this.#primary = all[0]!;
  }

  static async start(): Promise<PrimaryAndReplica> {
    const all = await Promise.all([RedisServer.start(), RedisServer.start()]);
    const [primary, replica] = all;
    await replica.command('REPLICAOF', primary.host, primary.port);
    await replicated(primary, [replica]);
    return new PrimaryAndReplica(all);
  }

  get primary(): RedisServer {
    return this.#primary;
  }

  /** While the primary changes, reads may be out of date. */
  get isChanging(): boolean {
    return this.#isChanging;
  }

  /**
   * Makes the replica the primary, and the primary a replica that keeps its clients: a planned failover of a managed Redis.
   *
   * Invariant: no acknowledged write is lost. Writes wait at the old primary until its replica has them all; those that waited
   * are refused.
   */
  async demote(): Promise<void> {
    const old = this.#primary;
    this.#isChanging = true;
    await old.command('CLIENT', 'PAUSE', PAUSE, 'WRITE');
    const next = await replicated(old, this.all);
    await next.command('REPLICAOF', 'NO', 'ONE');
    await old.command('REPLICAOF', next.host, next.port);
    await old.command('CLIENT', 'UNPAUSE');
    this.#primary = next;
    this.epoch += 1;
    await replicated(next, [old]);
    this.#isChanging = false;
  }

  /** Makes the primary refuse more memory for that long. */
  async refuse(ms: number): Promise<void> {
    await this.#primary.command('CONFIG', 'SET', 'maxmemory', '1');
    await delay(ms);
    await this.#primary.command('CONFIG', 'SET', 'maxmemory', '0');
  }

  /** Makes the primary serve no client for that long. */
  async pause(ms: number): Promise<void> {
    await this.#primary.command('CLIENT', 'PAUSE', Math.round(ms), 'ALL');
    await delay(ms);
  }

  /** Freezes the primary for that long. */
  async freeze(ms: number): Promise<void> {
    this.#primary.freeze();
    await delay(ms);
    this.#primary.thaw();
    await eventually('it answers', () => this.#primary.command('PING'));
  }

  async stop(): Promise<void> {
    await Promise.all(this.all.map((server) => server.stop()));
  }
}

/** A fault that began, in ms since the storm began. */
export interface FaultRecord {
  readonly at: number;
  readonly what: string;
}

type ServerFault = readonly [what: string, strike: (servers: PrimaryAndReplica) => Promise<void>];

/** What happens to the connections and to the servers, at random, until it is over. */
export class Weather {
  /** Faults of the servers: they are few, and affect all connections. */
  readonly ofServers: FaultRecord[] = [];
  /** Number of faults of each kind, including those of connections. */
  readonly counts: Record<string, number> = {};

  constructor(
    private readonly servers: PrimaryAndReplica,
    private readonly proxy: UnrulyProxy,
    private readonly findings: Findings,
    private readonly random: () => number,
  ) {}

  /** Resolves when it is over, and everything has recovered. */
  async rage(isOver: () => boolean): Promise<void> {
    await Promise.all([this.#ofConnections(isOver), this.#ofServers(isOver)]);
    await this.proxy.calm();
  }

  async #ofConnections(isOver: () => boolean): Promise<void> {
    const spells: Promise<void>[] = [];
    while (!isOver()) {
      await delay(this.#between(20, 200));
      const { open } = this.proxy;
      const victim = open[Math.floor(this.random() * open.length)];
      if (victim) spells.push(this.#spell(victim));
    }
    await Promise.all(spells);
  }

  /** One fault of one connection, from its beginning to its end. */
  async #spell(victim: UnrulyConnection): Promise<void> {
    const { requests, replies } = victim;
    const kind = this.random();
    if (kind < 0.1) {
      this.#count('cut');
      return victim.cut();
    }
    if (kind < 0.4) return this.#slow(victim);
    const held = kind < 0.7 ? [requests] : kind < 0.85 ? [replies] : [requests, replies];
    this.#count(
      held.length === 2 ? 'black hole' : held[0] === requests ? 'requests held' : 'replies held',
    );
    for (const lane of held) lane.hold();
    await delay(this.#between(200, 2_500));
    for (const lane of held) if (victim.isOpen) lane.release();
  }

  async #slow({ requests, replies }: UnrulyConnection): Promise<void> {
    this.#count('slow');
    requests.latency = this.#between(0, 1) ** 3 * 1_500;
    replies.latency = this.#between(0, 1) ** 3 * 1_500;
    await delay(this.#between(300, 3_000));
    requests.latency = replies.latency = 0;
  }

  async #ofServers(isOver: () => boolean): Promise<void> {
    const faults: readonly ServerFault[] = [
      ['demotion', (servers) => servers.demote()],
      ['no memory', (servers) => servers.refuse(this.#between(100, 700))],
      ['pause', (servers) => servers.pause(this.#between(100, 900))],
      ['freeze', (servers) => servers.freeze(this.#between(100, 1_200))],
    ];
    for (let n = 0; ; n++) {
      const until = performance.now() + this.#between(1_000, 4_000);
      while (performance.now() < until && !isOver()) await delay(50);
      if (isOver()) return;
      const [what, strike] = faults[n % 2 === 0 ? 0 : 1 + Math.floor(this.random() * 3)]!;
      this.ofServers.push({ at: this.findings.now, what });
      this.#count(what);
      await strike(this.servers);
    }
  }

  #count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  #between(least: number, most: number): number {
    return least + this.random() * (most - least);
  }
}
