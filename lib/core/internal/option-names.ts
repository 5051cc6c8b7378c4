import { type LockErrorContext, LockOptionsError } from '../errors/index.js';
import { NotShown } from '../errors/shown-value.js';

/** A name that can be shown: the characters of a text, given by mistake, may have become options, too. */
const IS_NAME = /^[A-Za-z_][\w.-]{0,39}$/;

/**
 * Throws {@link LockOptionsError} unless `options` is an object whose own properties, as far as they are set, have one of
 * those names.
 *
 * @param instead what to give instead of a name that is known elsewhere
 */
export function validateOptionNames(
  options: unknown,
  names: readonly string[],
  context?: LockErrorContext,
  instead: Readonly<Record<string, string>> = {},
): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new LockOptionsError('options', options, objectWith(names), context);
  // In each acquire: `Object.entries` makes an array of an array for each option.
  for (const name in options) {
    const isSet = (options as Record<string, unknown>)[name] !== undefined;
    if (!isSet || names.includes(name) || !Object.hasOwn(options, name)) continue;
    if (!IS_NAME.test(name))
      throw new LockOptionsError('options', options, objectWith(names), context);
    const expected = instead[name] ?? nearestAmong(name, names) ?? `one of ${listOf(names)}`;
    throw new LockOptionsError(name, new NotShown('unknown here'), expected, context);
  }
}

const listOf = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(', ');
const objectWith = (names: readonly string[]) => `an object with options such as ${listOf(names)}`;

/** The name that was probably meant, as a sentence goes on with it. */
export function nearestAmong(option: string, names: readonly string[]): string | undefined {
  const wrong = option.replaceAll(/[-_]/g, '').toLowerCase();
  const ranked = names
    .map((name) => ({ name, edits: editDistance(wrong, name.toLowerCase()) }))
    .sort((a, b) => a.edits - b.edits);
  const [nearest] = ranked;
  const isNear = nearest !== undefined && nearest.edits <= Math.min(2, nearest.name.length / 3);
  return isNear ? `\`${nearest.name}\`` : undefined;
}

/** Number of letters to insert, remove, replace or swap with the next one. */
function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    const [last, beforeLast] = [rows[i - 1]!, rows[i - 2]];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwap = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const edits = [row[j - 1]! + 1, last[j]! + 1, last[j - 1]! + (isSame ? 0 : 1)];
      if (isSwap && beforeLast !== undefined) edits.push(beforeLast[j - 2]! + 1);
      row.push(Math.min(...edits));
    }
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}
