import { Errors, fail } from './reply.js';

const INTEGER = /^(0|-?[1-9]\d{0,18})$/;
const [LEAST, GREATEST] = [-(2n ** 63n), 2n ** 63n - 1n];
const FLOAT = /^[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf(inity)?|0x[\da-f]+)$/i;

/** A signed integer of 64 bits, as Redis reads it. */
export function integerOf(text: string, error: string = Errors.integer): number {
  if (!INTEGER.test(text)) fail(error);
  const value = Number(text);
  if (!Number.isSafeInteger(value) && !isInRange(BigInt(text))) fail(error);
  return value;
}

/** The sum of two of them, as text. */
export function sumOf(text: string, increment: string, isNegated: boolean): string {
  const by = isNegated ? -integerOf(increment) : integerOf(increment);
  const value = integerOf(text);
  if (Number.isSafeInteger(value) && Number.isSafeInteger(by) && Number.isSafeInteger(value + by))
    return String(value + by);
  const exact = isNegated ? BigInt(text) - BigInt(increment) : BigInt(text) + BigInt(increment);
  if (!isInRange(exact)) fail(Errors.overflow);
  return String(exact);
}

const isInRange = (value: bigint) => value >= LEAST && value <= GREATEST;

/** A double, as Redis reads it. */
export function floatOf(text: string, error: string = Errors.float): number {
  if (!FLOAT.test(text)) fail(error);
  const infinity = /^([+-]?)inf/i.exec(text);
  if (infinity) return infinity[1] === '-' ? -Infinity : Infinity;
  return Number(text.replace(/^\+/, ''));
}

/** As `%.17g` of C. */
export function textOf(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e17)
    return Object.is(value, -0) ? '-0' : String(value);
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'nan' : value > 0 ? 'inf' : '-inf';
  const [mantissa = '', exponent = ''] = value.toExponential(16).split('e');
  const power = Number(exponent);
  if (power >= -4 && power < 17) return withoutZeros(value.toFixed(16 - power));
  const sign = power < 0 ? '-' : '+';
  return `${withoutZeros(mantissa)}e${sign}${String(Math.abs(power)).padStart(2, '0')}`;
}

const withoutZeros = (text: string) =>
  text.includes('.') ? text.replace(/0+$/, '').replace(/\.$/, '') : text;

/** One end of a range of scores, such as `(5`. */
export interface Bound {
  readonly score: number;
  readonly isExclusive: boolean;
}

export function boundOf(text: string): Bound {
  const isExclusive = text.startsWith('(');
  return { score: floatOf(isExclusive ? text.slice(1) : text, Errors.bounds), isExclusive };
}

/** The part of a sequence of that length from one index to another, which count from its end where they are negative. */
export function rangeOf(first: number, last: number, length: number): [from: number, to: number] {
  const from = Math.max(first < 0 ? first + length : first, 0);
  const to = Math.min(last < 0 ? last + length : last, length - 1);
  return from > to || from >= length ? [0, 0] : [from, to + 1];
}
