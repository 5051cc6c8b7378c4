import { LockOptionsError } from '../core/index.js';
import type { RunOnceOptions } from '../interfaces/lock-method-options.interface.js';

const LONGEST = 2 ** 31 - 1;

/** @throws LockOptionsError */
export function validateRunOnce({
  atMost,
  atLeast,
}: Required<Omit<RunOnceOptions, 'client'>>): void {
  const demand = (holds: boolean, option: string, value: unknown, expected: string) => {
    if (!holds) throw new LockOptionsError(option, value, expected);
  };
  const isWhole = (value: number) => Number.isInteger(value) && value <= LONGEST;

  demand(isWhole(atMost) && atMost > 0, 'atMost', atMost, 'whole milliseconds from 1 to 2^31 - 1');
  demand(
    isWhole(atLeast) && atLeast >= 0 && atLeast < atMost,
    'atLeast',
    atLeast,
    'whole milliseconds from 0 to below `atMost`',
  );
}
