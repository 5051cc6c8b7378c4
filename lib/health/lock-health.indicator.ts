import { Injectable } from '@nestjs/common';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { LockClientRegistry } from '../clients/lock-client.registry.js';
import {
  type LockClient,
  LockClientClosedError,
  type LockClientStatus,
  LockConnectionError,
  LockOptionsError,
} from '../core/index.js';
import type { LeaderElectionState } from '../elections/leader-election.js';
import { LeaderElections } from '../elections/leader-elections.js';

/** What a health check tells of a lock client. */
export interface LockHealth extends LockClientStatus {
  /** Milliseconds that the servers took to answer, where they have. */
  readonly latency?: number;
  /** Why there was no answer. */
  readonly message?: string;
  /** What the app is in each of its elections on that client, by their names. */
  readonly elections?: Readonly<Record<string, LeaderElectionState>>;
}

/** Options of `LockHealthIndicator.pingCheckAll`. */
export interface LockHealthOptions {
  /**
   * How long an answer of the servers is waited for, in milliseconds.
   *
   * @default 1,000
   */
  readonly timeout?: number;
  /**
   * The health from which on the check fails. A client is `degraded` while it reconnects and what it holds may still be held,
   * and when a minority of its independent Redis servers is away.
   *
   * @default 'down'
   */
  readonly failOn?: 'degraded' | 'down';
}

/** Options of `LockHealthIndicator.pingCheck`. */
export interface LockPingCheckOptions extends LockHealthOptions {
  /**
   * Name of the lock client.
   *
   * @default 'default'
   */
  readonly client?: string;
}

/**
 * Tells Terminus how the lock clients are. List it in the providers of the module that imports `TerminusModule`.
 *
 * - `up`: connected, and the servers answer.
 * - `degraded`: the connection is interrupted, but what is held may still be; or a minority of the independent Redis servers
 *   is away. The check does not fail, unless `failOn` says so. Terminus before 12.1 has no such status and calls it `up`;
 *   `health` says `degraded` there too.
 * - `down`: no answer within `timeout`, the locks are lost, too few servers, or closed.
 *
 * @example
 * ```ts
 * this.health.check([() => this.locks.pingCheck('locks')])
 * ```
 */
@Injectable()
export class LockHealthIndicator {
  constructor(
    private readonly indicators: HealthIndicatorService,
    private readonly registry: LockClientRegistry,
    private readonly elections: LeaderElections,
  ) {}

  /**
   * Checks one client. Beside `status` and `health` the result has `state`, `latency` in ms, `held`, `waiting`, and where
   * there are such `sessionId`, `servers`, `message` and `elections`: what the app is in each, by their names.
   *
   * Rejects with `LockClientUnknownError`, `LockOptionsError`.
   *
   * @param key of the result
   */
  async pingCheck<const Key extends string>(
    key: Key,
    { client, timeout, failOn = 'down' }: LockPingCheckOptions = {},
  ): Promise<HealthIndicatorResult<Key>> {
    if (failOn !== 'down' && failOn !== 'degraded')
      throw new LockOptionsError('failOn', failOn, "'down' or 'degraded'");
    const details = { ...(await this.#measure(client, timeout)) };
    const indicator = this.indicators.check(key);
    if (details.health === 'up') return indicator.up(details);
    if (details.health === failOn || details.health === 'down') return indicator.down(details);
    // Terminus before 12.1 does not know it.
    return (indicator as Partial<typeof indicator>).degraded?.(details) ?? indicator.up(details);
  }

  /**
   * Checks all clients; the result has an entry for each, called `<key>:<name of the client>`.
   *
   * Rejects with `LockOptionsError`.
   *
   * @param key what the names of the entries begin with
   */
  async pingCheckAll(key: string, options: LockHealthOptions = {}): Promise<HealthIndicatorResult> {
    const { timeout, failOn } = options;
    const results = this.registry.names.map((client) =>
      this.pingCheck(`${key}:${client}`, { client, timeout, failOn }),
    );
    return Object.assign({}, ...(await Promise.all(results))) as HealthIndicatorResult;
  }

  async #measure(client?: string, timeout?: number): Promise<LockHealth> {
    const health = await measureHealth(this.registry.get(client), timeout);
    const elections = this.elections.states(client);
    return elections === undefined ? health : { ...health, elections };
  }
}

/**
 * Asks the servers of a client, if it is connected to them. One that is connected and gets no answer within `timeout` ms is
 * down: its locks may be held, but it could not know.
 *
 * Rejects with `LockOptionsError` when `timeout` is not in its range.
 */
export async function measureHealth(client: LockClient, timeout = 1_000): Promise<LockHealth> {
  const before = client.status();
  if (!isConnected(before)) return before;
  try {
    const latency = await client.ping(timeout);
    return { ...client.status(), latency: Math.round(latency * 100) / 100 };
  } catch (error) {
    if (!(error instanceof LockConnectionError || error instanceof LockClientClosedError))
      throw error;
    const status = client.status();
    const health = isConnected(status) ? 'down' : status.health;
    return { ...status, health, message: error.message };
  }
}

function isConnected({ state }: LockClientStatus): boolean {
  return state === 'CONNECTED' || state === 'RECONNECTED';
}
