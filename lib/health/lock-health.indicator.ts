import { Inject, Injectable } from '@nestjs/common';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import type { LockClients } from '../clients/lock-clients.js';
import {
  type LockClient,
  LockClientClosedError,
  type LockClientStatus,
  LockConnectionError,
  LockOptionsError,
} from '../core/index.js';
import type { LeaderElectionState } from '../elections/leader-election.js';
import type { LeaderElections } from '../elections/leader-elections.js';
import { LEADER_ELECTIONS, LOCK_CLIENTS } from '../lock.constants.js';

/** Result of a health check of a lock client. */
interface LockHealth extends LockClientStatus {
  /** Response time of the servers in milliseconds, if they answered. */
  readonly latency?: number | undefined;
  /** Reason for a missing answer. */
  readonly message?: string | undefined;
  /** State of the app in each of its elections on that client, by election name. */
  readonly elections?: Readonly<Record<string, LeaderElectionState>> | undefined;
}

/** Options of `LockHealthIndicator.pingCheckAll`. */
export interface LockHealthOptions {
  /**
   * Maximum time to wait for the servers' answer, in milliseconds.
   *
   * @default 1,000
   */
  readonly timeout?: number | undefined;
  /**
   * The least severe health that fails the check. A client is `degraded` while it reconnects and its locks may still be held,
   * and when a minority of its independent Redis servers is unavailable.
   *
   * @default 'down'
   */
  readonly failOn?: 'degraded' | 'down' | undefined;
}

/** Options of `LockHealthIndicator.pingCheck`. */
export interface LockPingCheckOptions extends LockHealthOptions {
  /**
   * Name of the lock client.
   *
   * @default 'default'
   */
  readonly client?: string | undefined;
}

/**
 * Reports the health of the lock clients to Terminus. List it in the providers of the module that imports `TerminusModule`.
 *
 * - `up`: connected, and the servers answer.
 * - `degraded`: the connection is interrupted, but the locks may still be held; or a minority of the independent Redis servers
 *   is unavailable. The check does not fail, unless `failOn` says so. Terminus before 12.1 lacks this status and reports `up`;
 *   `health` is `degraded` there too.
 * - `down`: no answer within `timeout`, the locks are lost, too few servers, or the client is closed.
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
    @Inject(LOCK_CLIENTS) private readonly clients: LockClients,
    @Inject(LEADER_ELECTIONS) private readonly elections: LeaderElections,
  ) {}

  /**
   * Checks one client. Besides `status` and `health` the result has `state`, `latency` in ms, `held`, `waiting` and, if
   * present, `kept`, `endangered`, `stall`, `sessionId`, `servers`, `message` and `elections`: the state of the app in each, by election
   * name.
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
    // Terminus before 12.1 has no `degraded`.
    return (indicator as Partial<typeof indicator>).degraded?.(details) ?? indicator.up(details);
  }

  /**
   * Checks all clients; the result has an entry for each, named `<key>:<name of the client>`.
   *
   * Rejects with `LockOptionsError`.
   *
   * @param key prefix of the names of the entries
   */
  async pingCheckAll(key: string, options: LockHealthOptions = {}): Promise<HealthIndicatorResult> {
    const { timeout, failOn } = options;
    const results = this.clients.names.map((client) =>
      this.pingCheck(`${key}:${client}`, { client, timeout, failOn }),
    );
    return Object.assign({}, ...(await Promise.all(results))) as HealthIndicatorResult;
  }

  async #measure(client?: string, timeout?: number): Promise<LockHealth> {
    const health = await measureHealth(this.clients.get(client), timeout);
    const elections = this.elections.states(client);
    return elections === undefined ? health : { ...health, elections };
  }
}

/**
 * Pings the servers of a client if it is connected to them. A connected client without an answer within `timeout` ms is down:
 * its locks may still be held, but it cannot know.
 *
 * Rejects with `LockOptionsError` if `timeout` is out of range.
 */
async function measureHealth(client: LockClient, timeout = 1_000): Promise<LockHealth> {
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
