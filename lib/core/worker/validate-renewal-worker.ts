import { LockOptionsError } from '../errors/index.js';
import { NotShown } from '../errors/shown-value.js';
import { validateOptionNames } from '../internal/option-names.js';

/** What the option depends on. */
interface Surroundings {
  readonly client: string;
  /** Name and value of the option that says how long a lock lasts without renewal, in ms. */
  readonly lasting: readonly [option: string, ms: number];
  /** Options that its thread makes a connection from. */
  readonly copied: object;
}

/** Throws `LockOptionsError` if the option `renewalWorker` is given, and is not valid. */
export function validateRenewalWorker(
  renewalWorker: unknown,
  { client, lasting: [option, least], copied }: Surroundings,
): void {
  if (renewalWorker === undefined) return;
  const refuse = (value: unknown, expected: string, name = 'renewalWorker'): never => {
    throw new LockOptionsError(name, value, expected, { client });
  };
  if (typeof renewalWorker !== 'object' || renewalWorker === null)
    return refuse(renewalWorker, 'an object: { maxStall: 60_000 }');
  validateOptionNames(renewalWorker, ['maxStall'], { client });
  const { maxStall } = renewalWorker as { maxStall?: unknown };
  if (!(typeof maxStall === 'number' && maxStall >= least && maxStall < 2 ** 31))
    refuse(
      maxStall,
      `milliseconds from the \`${option}\`, ${least}, to 2^31 - 1`,
      'renewalWorker.maxStall',
    );
  if (!canBeCopied(copied))
    refuse(
      new NotShown('given with options that cannot be copied to its thread'),
      'it with options of the connection that are plain values: without functions, such as a `retryStrategy`, and without objects of native code',
    );
}

function canBeCopied(value: unknown): boolean {
  try {
    structuredClone(value);
    return true;
  } catch {
    return false;
  }
}
