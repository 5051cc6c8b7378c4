import type { Readable } from 'node:stream';
import { types } from 'node:util';
import type { Observable } from 'rxjs';

type Method = (...args: unknown[]) => unknown;
type Anything = Readonly<Record<PropertyKey, unknown>>;

const isObject = (value: unknown): value is Anything => typeof value === 'object' && value !== null;
const has = (value: Anything, ...methods: PropertyKey[]) =>
  methods.every((method) => typeof value[method] === 'function');

/**
 * True for an Observable of RxJS, and of any other library: they know each other by `Symbol.observable`, or its stand-in. A package
 * may define that symbol after the library has been loaded, which keeps the stand-in then.
 */
export const isObservableLike = (value: unknown): value is Observable<unknown> =>
  isObject(value) &&
  has(value, 'subscribe') &&
  ['lift', '@@observable', (Symbol as { observable?: symbol }).observable].some(
    (mark) => mark !== undefined && has(value, mark),
  );

export const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  isObject(value) && has(value, Symbol.asyncIterator);

/** Of any age: the older ones cannot be iterated. A stream that is only written to is not read by anybody later. */
const isNodeStream = (value: unknown): value is Readable =>
  isObject(value) &&
  has(value, 'pipe', 'on') &&
  (value.readable === true || isAsyncIterable(value));

const isWebStream = (value: unknown): boolean =>
  Object.prototype.toString.call(value) === '[object ReadableStream]';

/** True for a generator, also a transpiled one. Collections are no iterators, and those over them have nothing to clean up. */
const isGenerator = (value: unknown): boolean =>
  isObject(value) && has(value, Symbol.iterator, 'next', 'return');

/** The name of a property that nothing has, except for a mock that answers every property with a function. */
const NOBODYS = 'nestjs-interlock: the name of no property';

/**
 * True if `result` is work that is yet to be done, when it is subscribed to, iterated or read. Collections are values,
 * also in the form of a `Buffer` or a `Set`; so are mocks that would be of every kind.
 */
export const isLazy = (result: unknown): boolean =>
  isObject(result) && kinds.some((isOfKind) => isOfKind(result)) && !has(result, NOBODYS);

const kinds = [isObservableLike, isAsyncIterable, isNodeStream, isWebStream, isGenerator];

const ignore = () => {};

/**
 * Ends what will not be read: a file that it has open would stay so. Only methods whose meaning is a standard are called, as
 * `close` or `cancel` of an object of the app may be a business operation. A failure is ignored.
 */
export function dispose(result: unknown): void {
  if (types.isPromise(result)) return void result.then(dispose, ignore);
  if (!isObject(result) || !isLazy(result)) return;
  if (isNodeStream(result)) result.on('error', ignore); // of a file that could not be opened, for example
  const end = ends.find(([applies, method]) => applies(result) && has(result, method))?.[1];
  if (end === undefined) return;
  void (async () => await (result[end] as Method)())().catch(ignore);
}

const ends: readonly [applies: (result: unknown) => boolean, method: PropertyKey][] = [
  [isNodeStream, 'destroy'],
  [isWebStream, 'cancel'],
  [(result) => isObject(result) && has(result, 'next'), 'return'],
  [isObject, Symbol.asyncDispose],
  [isObject, Symbol.dispose],
];
