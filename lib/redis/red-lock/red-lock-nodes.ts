import type { Clock, Timer } from '../../core/clock.js';
import {
  LockClientClosedError,
  LockConnectionError,
  LockOptionsError,
} from '../../core/errors/index.js';
import { LOCK_INSPECTION } from '../../core/lock-inspection.js';
import type { LockEventEmitter } from '../../core/internal/lock-event-emitter.js';
import { settleWithin } from '../../core/internal/timers.js';
import type { RedisConnection } from '../connection/redis-connection.js';
import type { RedisLock } from '../locks/redis-lock.js';
import type { RedisLockClient } from '../redis-lock-client.js';
import { reasonOf } from '../connection/redis-error.js';
import { asLongAs, retryUntilAnswered } from '../connection/retry-until-answered.js';
import { runIdIn } from '../connection/server-ids.js';
import { firstN } from './ballot.js';
import type { RedLockContext } from './red-lock-hold.js';

/** Connection states, the best first. */
const STATES = ['CONNECTED', 'REFUSED', 'SUSPENDED', 'LOST', 'CONNECTING', 'CLOSED'];

/** Delay before a server that has not said what it is is asked again, in ms. */
const PAUSE = 100;

/** One of a client's servers. */
export interface RedLockNode {
  readonly connection: RedisConnection;
  readonly client: RedisLockClient;
}

/** The servers of one client. */
export class RedLockNodes {
  /** Latest reason why one of them is not connected, for an operator. */
  lastReason = 'no server has answered';
  /** Servers by the id of the process that answered. */
  readonly #servers = new Map<string, RedLockNode>();
  #isClosed = false;

  constructor(
    private readonly name: string,
    private readonly nodes: readonly RedLockNode[],
    private readonly clock: Clock,
    events: LockEventEmitter,
  ) {
    nodes.forEach(({ client }, i) =>
      client.on('connection', ({ state, reason }) => {
        const about = `server ${i + 1} of ${nodes.length}: ${reason}`;
        if (state !== 'CONNECTED' && state !== 'RECONNECTED') this.lastReason = about;
        events.emit('connection', { state, reason: about, server: i + 1 });
      }),
    );
  }

  get clients(): readonly RedisLockClient[] {
    return this.nodes.map(({ client }) => client);
  }

  /** See `LockScope`; of any one server. */
  serverIds(): string[] {
    return this.nodes.flatMap(({ connection }) => connection.serverIds());
  }

  /** States of the connections, the best first. */
  get states(): string[] {
    const states = this.clients.map((client) => client[LOCK_INSPECTION].health().state);
    return states.sort((a, b) => STATES.indexOf(a) - STATES.indexOf(b));
  }

  /** Number of servers needed, so that any two groups of that size have one in common. */
  get majority(): number {
    return Math.floor(this.nodes.length / 2) + 1;
  }

  /**
   * Resolves when a majority is connected, and the others are too, have failed or have had `grace` ms more; those that do not answer keep trying.
   *
   * Rejects with `LockOptionsError` if two of them are the same server, and with the last error if so many have failed that
   * no majority is left.
   */
  async connect(grace: number): Promise<void> {
    const connecting = this.nodes.map((node, i) => this.#connect(node, i + 1));
    const all = this.#unlessTooFew(connecting);
    await Promise.race([firstN(this.majority, connecting), all]);
    let timer: Timer | undefined;
    const later = new Promise<void>((resolve) => {
      timer = this.clock.setTimer(resolve, grace, true);
    });
    await Promise.race([all, later]).finally(() => timer?.cancel());
  }

  /** Resolves when a majority has answered; rejects if it does not within `timeout` ms. */
  async ping(timeout: number): Promise<void> {
    const answers = await firstN(
      this.majority,
      this.clients.map((client) => client.ping(timeout)),
    );
    if (answers.length < this.majority)
      throw new Error(`${answers.length} of ${this.nodes.length} servers have answered.`);
  }

  async close(timeout: number): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.clients.map((client) => client.close(timeout)));
  }

  /** Resolves when each has connected or failed; rejects as `connect` does. */
  #unlessTooFew(connecting: readonly Promise<void>[]): Promise<void> {
    let left = this.nodes.length;
    return Promise.all(
      connecting.map((node) =>
        node.catch((error: unknown) => {
          left -= 1;
          if (error instanceof LockOptionsError || left < this.majority) throw error;
        }),
      ),
    ).then(() => {});
  }

  /** Connects to one server. */
  async #connect(node: RedLockNode, number: number): Promise<void> {
    const { client } = node;
    try {
      await client.connect();
      await this.#identify(node);
    } catch (error) {
      const isNew = !this.#isClosed && !(error instanceof LockClientClosedError);
      if (isNew) await this.#giveUp(client, number, error as Error);
      throw error;
    }
  }

  /** Closes the client of a server, so that it grants nothing. */
  async #giveUp(client: RedisLockClient, number: number, error: Error): Promise<void> {
    this.lastReason = `server ${number} of ${this.nodes.length}: ${reasonOf(error.cause ?? error)}`;
    const isTwice = error instanceof LockOptionsError;
    const what = isTwice
      ? 'was given the same Redis server twice.'
      : `cannot use ${this.lastReason}`;
    process.emitWarning(`Lock client "${this.name}" ${what}`);
    await client.close(0);
  }

  /** Rejects a duplicate, as a server with two votes could make a majority of its own. */
  async #identify(node: RedLockNode): Promise<void> {
    const { connection } = node;
    const ask = () => connection.read('info', 'server');
    const bound = asLongAs(this.clock, () => !this.#isClosed);
    const id = runIdIn(String(await retryUntilAnswered(connection, ask, bound, () => PAUSE))) ?? '';
    const known = this.#servers.get(id) ?? node;
    this.#servers.set(id, known);
    if (known === node) return;
    throw new LockOptionsError(
      'nodes',
      'the same server twice',
      'independent servers, each of them once',
      { client: this.name },
    );
  }
}

/**
 * Resolves to the id by which a majority of the servers knows the holder of a lock; empty if there is no such holder. Servers
 * that are not connected are not asked, and silent ones are not waited for once the id is known.
 *
 * Rejects with `LockConnectionError` if too few answer within `nodeTimeout`.
 */
export async function majorityHolders(
  context: RedLockContext,
  key: string,
  parts: readonly RedisLock[],
): Promise<string[]> {
  const { clock, nodeTimeout, majority, servers, client } = context;
  const answers: string[][] = [];
  let cause: unknown;
  const agreed = () =>
    answers.flat().find((id) => answers.filter((ids) => ids.includes(id)).length >= majority);
  const known = new Promise<void>((resolve) => {
    const ready = parts.filter(({ isReady }) => isReady);
    const answered = ready.map(async (part) => {
      try {
        answers.push(await part.askHolderIds());
        if (agreed() !== undefined) resolve();
      } catch (error) {
        cause = error;
      }
    });
    void Promise.all(answered).then(() => resolve());
  });
  await settleWithin(nodeTimeout, clock, known);
  const leader = agreed();
  if (leader !== undefined) return [leader];
  if (answers.length >= majority) return [];
  throw new LockConnectionError(
    `Fewer than ${majority} of the ${servers} servers of client "${client}" reported the leader of ${JSON.stringify(key)} in time. Check the servers, or raise \`nodeTimeout\`.`,
    { key, client, cause },
  );
}
