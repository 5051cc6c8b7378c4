import type { Clock, Timer } from '../../core/clock.js';
import { LockOptionsError } from '../../core/errors/index.js';
import type { RedisConnection } from '../connection/redis-connection.js';
import type { LockEventEmitter } from '../../core/internal/lock-event-emitter.js';
import type { RedisLockClient } from '../redis-lock-client.js';
import { firstOf } from './first-of.js';

/** States of a connection, the best first. */
const STATES = ['CONNECTED', 'REFUSED', 'SUSPENDED', 'LOST', 'CONNECTING', 'CLOSED'];

/** One of the servers. */
export interface RedLockNode {
  readonly connection: RedisConnection;
  readonly client: RedisLockClient;
}

/** The servers of one client. */
export class RedLockNodes {
  /** Why one of them is not connected, for an operator. */
  lastReason = 'no server has answered';
  /** By the id of the process that answered. */
  readonly #servers = new Map<string, RedLockNode>();

  constructor(
    private readonly name: string,
    private readonly nodes: readonly RedLockNode[],
    private readonly clock: Clock,
    events: LockEventEmitter,
  ) {
    nodes.forEach(({ client }, i) =>
      client.on('connection', ({ state, reason }) => {
        this.lastReason = `server ${i + 1} of ${nodes.length}: ${reason}`;
        events.emit('connection', { state, reason: this.lastReason, server: i + 1 });
      }),
    );
  }

  get clients(): readonly RedisLockClient[] {
    return this.nodes.map(({ client }) => client);
  }

  /** States of the connections, the best first. */
  get states(): string[] {
    const states = this.clients.map((client) => client.status().state);
    return states.sort((a, b) => STATES.indexOf(a) - STATES.indexOf(b));
  }

  /** How many are needed, so that any two groups of so many have one in common. */
  get majority(): number {
    return Math.floor(this.nodes.length / 2) + 1;
  }

  /**
   * Resolves when a majority is connected, and the others are too or have had `grace` ms more; these go on trying. Rejects
   * with `LockOptionsError` when two of them are the same server.
   */
  async connect(grace: number): Promise<void> {
    const connecting = this.nodes.map((node) => this.#connect(node));
    const all = Promise.all(connecting);
    await Promise.race([firstOf(this.majority, connecting), all]);
    let timer: Timer | undefined;
    const later = new Promise<void>((resolve) => {
      timer = this.clock.setTimer(resolve, grace, true);
    });
    await Promise.race([all, later]).finally(() => timer?.cancel());
  }

  /** Resolves when a majority has answered; rejects when so many do not within `timeout` ms. */
  async ping(timeout: number): Promise<void> {
    const answers = await firstOf(
      this.majority,
      this.clients.map((client) => client.ping(timeout)),
    );
    if (answers.length < this.majority)
      throw new Error(`${answers.length} of ${this.nodes.length} servers have answered.`);
  }

  async close(timeout: number): Promise<void> {
    await Promise.all(this.clients.map((client) => client.close(timeout)));
  }

  /** A server with two votes would make a majority of its own. */
  async #connect(node: RedLockNode): Promise<void> {
    const { client, connection } = node;
    await client.connect();
    const info = String(await connection.read('info', 'server'));
    const [, id = ''] = /run_id:(\w+)/.exec(info) ?? [];
    const known = this.#servers.get(id) ?? node;
    this.#servers.set(id, known);
    if (known === node) return;
    await client.close(0); // it grants nothing
    process.emitWarning(`Lock client "${this.name}" was given the same Redis server twice.`);
    throw new LockOptionsError(
      'nodes',
      'the same server twice',
      'independent servers, each of them once',
      { client: this.name },
    );
  }
}
