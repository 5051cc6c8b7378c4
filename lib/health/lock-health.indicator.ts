import { Injectable } from '@nestjs/common';
import { HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';
import { LockOptionsError } from '../core/index.js';
import { LeaderElections } from '../elections/leader-elections.js';
import { LockClientRegistry } from '../clients/lock-client.registry.js';
import type { LockHealthOptions } from './lock-health-options.interface.js';
import type { LockHealth } from './lock-health.js';
import type { LockPingCheckOptions } from './lock-ping-check-options.interface.js';
import { measureHealth } from './measure-health.js';

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
