import { LockOptionsError } from '../../core/errors/index.js';
import { NotShown } from '../../core/errors/shown-value.js';
import { validateOptionNames } from '../../core/internal/option-names.js';
import type { RedisLockOptions } from '../redis-options.js';

/** Throws `LockOptionsError` if the option `renewalWorker` is not valid, or does not go with the others. */
export function validateRenewalWorker(options: RedisLockOptions, client: string): void {
  const { renewalWorker, watchdogTimeout = 30_000 } = options;
  if (renewalWorker === undefined) return;
  const about = { client };
  const refuse = (value: unknown, expected: string, option = 'renewalWorker'): never => {
    throw new LockOptionsError(option, value, expected, about);
  };
  if (typeof renewalWorker !== 'object' || renewalWorker === null)
    refuse(renewalWorker, 'an object: { maxStall: 60_000 }');
  validateOptionNames(renewalWorker, ['maxStall'], about);
  const { maxStall } = renewalWorker;
  if (!(typeof maxStall === 'number' && maxStall >= watchdogTimeout && maxStall < 2 ** 31))
    refuse(
      maxStall,
      `milliseconds from the \`watchdogTimeout\`, ${watchdogTimeout}, to 2^31 - 1`,
      'renewalWorker.maxStall',
    );
  if (options.connect === undefined && options.cluster === undefined)
    refuse(
      new NotShown(`given with \`${options.nodes ? 'nodes' : 'client'}\``),
      'it with `connect` or `cluster`: its thread has to make a connection of its own from these options',
    );
  const { connect, cluster } = options;
  if (!isCopied({ connect, cluster }))
    refuse(
      new NotShown('given with options that cannot be copied to its thread'),
      'it with options of the connection that are plain values: without functions, such as a `retryStrategy`, and without objects of native code',
    );
}

function isCopied(value: unknown): boolean {
  try {
    structuredClone(value);
    return true;
  } catch {
    return false;
  }
}
