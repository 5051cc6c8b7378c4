import type { ContractOptions, ContractRunner } from './contract-stage.js';
import { multiLockContract } from './multi-lock-contract.js';
import { mutexContract } from './mutex-contract.js';
import { readWriteLockContract } from './read-write-lock-contract.js';
import { semaphoreContract } from './semaphore-contract.js';

/** All guarantees of a `LockClient`, as tests. A client that lacks a kind of lock uses the contracts of the others. */
export function lockClientContract(runner: ContractRunner, options: ContractOptions): void {
  mutexContract(runner, options);
  readWriteLockContract(runner, options);
  semaphoreContract(runner, options);
  multiLockContract(runner, options);
}
