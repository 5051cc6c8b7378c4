import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../../support/eventually.js';
import { RedisServer } from '../../support/redis-server.js';
import { replicated } from '../../support/replicated.js';

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
