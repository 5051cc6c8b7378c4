import type { ContractOptions, ContractRunner } from './contract-stage.js';
import { multiLockContract } from './multi-lock-contract.js';
import { mutexContract } from './mutex-contract.js';
import { readWriteLockContract } from './read-write-lock-contract.js';
import { semaphoreContract } from './semaphore-contract.js';

/** All that a `LockClient` promises, as tests. One without some kind of lock takes the contracts of the others. */
export function lockClientContract(runner: ContractRunner, options: ContractOptions): void {
  mutexContract(runner, options);
  readWriteLockContract(runner, options);
  semaphoreContract(runner, options);
  multiLockContract(runner, options);
}
