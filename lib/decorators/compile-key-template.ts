import { LockKeyError } from '../core/index.js';

const PLACEHOLDER = /\{(\d+(?:\.[^.{}]+)*)\}/g;

const valueAt = (args: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce((value, field) => (value as Record<string, unknown> | null | undefined)?.[field], args);

/** `Number.isNaN` and the empty text are what a missing value often has become. */
const isUsable = (value: unknown): boolean =>
  (typeof value === 'string' && value !== '') ||
  Number.isFinite(value) ||
  typeof value === 'bigint' ||
  typeof value === 'boolean';

/**
 * A function of the arguments that fills in the placeholders of `template`, like `{0}` and `{0.order.id}`; without any,
 * the template itself. Other braces are plain text.
 *
 * The function throws `LockKeyError` where an argument has no text, number or boolean at that place.
 */
export function compileKeyTemplate(
  template: string,
  method: string,
): string | ((...args: unknown[]) => string) {
  if (template.search(PLACEHOLDER) === -1) return template;
  return (...args) =>
    template.replace(PLACEHOLDER, (placeholder, path: string) => {
      const value = valueAt(args, path);
      if (isUsable(value)) return String(value);
      const found =
        typeof value === 'object' && value !== null ? 'an object' : JSON.stringify(value);
      throw new LockKeyError(template, `${placeholder} is ${found} in a call of ${method}`);
    });
}
