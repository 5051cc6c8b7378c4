import { inspect } from 'node:util';

const LONGEST = 80;

/**
 * Takes the place of a value that is, or may contain, a secret: loggers and error trackers write down everything that an error
 * carries, and follow its fields.
 */
export class NotShown {
  /** @param what what a message says instead of the value, as in `Option x is …` */
  constructor(readonly what: string) {}

  toString(): string {
    return this.what;
  }

  toJSON(): string {
    return this.what;
  }

  [inspect.custom](): string {
    return this.what;
  }
}

/** A text that may be, or contain, a URL, credentials before a host, or `password=…`. */
const MAY_BE_SECRET = /:\/\/|[@=]/;

/**
 * What an error may carry of the value of an option. Only a number, a text that holds no credentials and the like are kept as
 * they are: an object is often the configuration of a connection.
 */
export function carriedOption(value: unknown): unknown {
  if (typeof value !== 'string') return carriedValue(value);
  return MAY_BE_SECRET.test(value) ? new NotShown('a text that is not shown') : value;
}

/** What an error may carry of a key: as {@link carriedOption}, but a text is kept, as a key is no secret. */
export function carriedValue(value: unknown): unknown {
  const isObject = typeof value === 'object' && value !== null && !(value instanceof NotShown);
  if (isObject || typeof value === 'function') return new NotShown(kindOf(value));
  return value;
}

/** What an object is, without what is in it. */
function kindOf(value: object): string {
  if (typeof value === 'function') return 'a function';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array';
  const prototype = Object.getPrototypeOf(value) as object | null;
  const type = prototype?.constructor?.name || 'Object';
  return type === 'Object' ? 'an object' : `an object of the class ${type}`;
}

/** Text of a carried value for a message: on one line, cut short. */
export function shownValue(carried: unknown): string {
  if (typeof carried === 'string') return JSON.stringify(carried.slice(0, LONGEST));
  return inspect(carried).slice(0, LONGEST);
}
