import { inspect } from 'node:util';

const LONGEST = 80;

/** How a message shows a value that is not what was asked for: on one line, cut short, whatever it is. */
export function shownValue(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, LONGEST));
  return inspect(value, { depth: 0, breakLength: Infinity }).slice(0, LONGEST);
}
