import type { ContractOptions } from './contract-options.js';
import type { ContractRunner } from './contract-runner.js';
import { ContractStage } from './contract-stage.js';
import { mutexClosingContract } from './mutex-closing-contract.js';
import { mutexEventsContract } from './mutex-events-contract.js';
import { mutexExclusionContract } from './mutex-exclusion-contract.js';
import { mutexLeaseContract } from './mutex-lease-contract.js';
import { mutexReentryContract } from './mutex-reentry-contract.js';
import { mutexWaitContract } from './mutex-wait-contract.js';

/**
 * What `LockClient.mutex` and `semaphoreMutex` promise, as tests: exclusion, order, waits that end, re-entry, leases, events,
 * closing.
 *
 * @example
 * ```ts
 * import { afterEach, beforeEach, describe, it } from 'vitest';
 *
 * mutexContract({ describe, it, beforeEach, afterEach }, { createClient: () => connectToMyBackend() });
 * ```
 */
export function mutexContract(runner: ContractRunner, options: ContractOptions): void {
  const { describe } = runner;
  describe('A mutex', () => {
    const stage = ContractStage.of(runner, options);
    describe('excludes', () => mutexExclusionContract(runner, stage, options));
    describe('is waited for', () => mutexWaitContract(runner, stage));
    describe('is re-entered', () => mutexReentryContract(runner, stage));
    describe('has a lease', () => mutexLeaseContract(runner, stage));
    describe('has events', () => mutexEventsContract(runner, stage));
    describe('of a client that closes', () => mutexClosingContract(runner, stage, options));
  });
}
