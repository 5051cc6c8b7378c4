import { LockOptionsError } from '../core/index.js';
import type { LockMethodOptions } from '../interfaces/lock-method-options.interface.js';

const POLICIES: readonly unknown[] = ['abort', 'throw', 'ignore'];

/** @throws LockOptionsError */
export function validateLockMethodOptions(options: LockMethodOptions): void {
  const { client, wait, lease, onBusy, onLost } = options;
  const demand = (holds: boolean, option: keyof typeof options, expected: string) => {
    if (!holds) throw new LockOptionsError(option, options[option], expected);
  };

  demand(
    client === undefined || (typeof client === 'string' && client !== ''),
    'client',
    'the name of a lock client',
  );
  demand(
    wait === undefined || wait === 'forever' || (Number.isFinite(wait) && wait > 0),
    'wait',
    "milliseconds above 0, or 'forever'",
  );
  demand(
    lease === undefined || (Number.isFinite(lease) && lease > 0),
    'lease',
    'milliseconds above 0',
  );
  demand(
    onBusy === undefined || onBusy === 'throw' || onBusy === 'skip' || typeof onBusy === 'function',
    'onBusy',
    "'throw', 'skip' or a function",
  );
  demand(
    wait !== 'forever' || onBusy === undefined || onBusy === 'throw',
    'wait',
    'a number of milliseconds, as a wait for ever is never busy, or no `onBusy`',
  );
  demand(
    onLost === undefined || POLICIES.includes(onLost) || typeof onLost === 'function',
    'onLost',
    "'abort', 'throw', 'ignore' or a function",
  );
}
