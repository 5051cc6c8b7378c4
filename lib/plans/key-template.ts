import { LockKeyError } from '../core/index.js';

/** Placeholder of a key template, such as `{0}` or `{0.order.id}`; the group is its path in the arguments. */
const PLACEHOLDER = /\{(\d+(?:\.[^.{}]+)*)\}/g;

/** Whether the text has a placeholder. Other braces are plain text. */
export const isTemplate = (key: string): boolean => key.search(PLACEHOLDER) !== -1;

/** A placeholder with the text before it. */
interface Slot {
  readonly before: string;
  readonly placeholder: string;
  readonly path: readonly string[];
  /** Character that ends its value: the value has it escaped. None for the last placeholder. */
  readonly end?: string;
}

/**
 * A key with placeholders for the arguments of a call.
 *
 * Different values give different keys. Proof: of the text between a placeholder and the next, `end` is the first character
 * that escapes do not consist of. In the value before it, `end` and `%` are replaced by `%` and hexadecimal digits, from which
 * the value can be recovered, and which do not contain `end`. So reading a key from the left, each value ends where `end`
 * comes first, less the known text before that. The last value is all that is left but the text behind it. Therefore that one,
 * and the only one of most templates, is never changed; the others are if they contain `end` or `%`.
 */
export class KeyTemplate {
  readonly #slots: readonly Slot[];
  readonly #rest: string;

  /** @throws LockKeyError when no text separates one value from the next */
  constructor(private readonly text: string) {
    const matches = [...text.matchAll(PLACEHOLDER)];
    const endOf = (i: number) => matches[i]!.index + matches[i]![0].length;
    const textBefore = (i: number) => text.slice(i === 0 ? 0 : endOf(i - 1), matches[i]!.index);
    this.#rest = text.slice(endOf(matches.length - 1));
    this.#slots = matches.map(([placeholder, path], i) => {
      const slot = { before: textBefore(i), placeholder, path: path!.split('.') };
      if (i === matches.length - 1) return slot;
      const end = [...textBefore(i + 1)].find((character) => !/[%0-9A-F]/.test(character));
      if (end !== undefined) return { ...slot, end };
      const between = `between ${placeholder} and ${matches[i + 1]![0]}`;
      throw new LockKeyError(
        text,
        `nothing ${between} tells where one value ends and the next begins, so different values would share a lock; put a text such as ":" there (not only digits, A to F and %, which escaped values consist of)`,
      );
    });
  }

  /**
   * The key of a call.
   *
   * @throws LockKeyError if an argument has no string, number or boolean at a path
   */
  fillIn(args: readonly unknown[], method: string): string {
    let key = '';
    for (const { before, placeholder, path, end } of this.#slots) {
      const value = valueAt(args, path);
      if (!isUsable(value))
        throw new LockKeyError(
          this.text,
          `${placeholder} is ${shown(value)} in a call of ${method}`,
        );
      key += before + (end === undefined ? String(value) : escaped(String(value), end));
    }
    return key + this.#rest;
  }
}

const valueAt = (args: unknown, path: readonly string[]): unknown =>
  path.reduce(
    (value, field) => (value as Record<string, unknown> | null | undefined)?.[field],
    args,
  );

/** Texts that often result from a missing value or an object. */
const SPOILT = /^\s*$|^(?:undefined|null|NaN)$|\[object [\w ]+\]/;

/** True if the value may be part of a key. */
const isUsable = (value: unknown): boolean =>
  (typeof value === 'string' && !SPOILT.test(value)) ||
  Number.isFinite(value) ||
  typeof value === 'bigint' ||
  typeof value === 'boolean';

/** A value that is not usable, for a message: of those that may hold a secret, only what they are. */
function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`;
  return String(value);
}

function escaped(value: string, end: string): string {
  if (!value.includes(end) && !value.includes('%')) return value;
  return value.replaceAll('%', '%25').replaceAll(end, percentEncoded);
}

/** As in a URL, but of any character. */
const percentEncoded = (character: string) =>
  [...Buffer.from(character)]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
    .join('');
