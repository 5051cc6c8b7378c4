import type { Observable } from 'rxjs';

type Stream = Observable<unknown> | AsyncGenerator<unknown, unknown, never>;
type StreamMethod = (...args: never[]) => Stream;

type ValueOf<S> =
  S extends Observable<infer T> ? T : S extends AsyncGenerator<infer T, unknown, never> ? T : never;

/** The return type of a generator; `unknown` for an Observable. */
type EndOf<S> = S extends AsyncGenerator<unknown, infer T, never> ? T : unknown;

/**
 * As `AsyncMethodDecorator`, for methods that return an `Observable` and for async generators. The value type includes `Busy`.
 * For methods that may end without having run, the return type of a generator includes `Early`.
 */
export type StreamMethodDecorator<A extends unknown[], Busy = never, Early = never> = <
  M extends StreamMethod,
>(
  target: object & { prototype?: never },
  name: string | symbol,
  descriptor: TypedPropertyDescriptor<M> &
    (Parameters<M> extends [...A, ...unknown[]] ? unknown : never) &
    ([Busy] extends [ValueOf<ReturnType<M>>] ? unknown : never) &
    ([Early] extends [EndOf<ReturnType<M>>] ? unknown : never),
) => void;

type Handler<A extends unknown[]> = (...args: A) => unknown;

/**
 * A decorator of methods, async or not, that take arguments `A` or fewer of them. Static methods and properties are rejected.
 */
export type LeadershipDecorator<A extends unknown[]> = <M extends Handler<A>>(
  target: object & { prototype?: never },
  name: string | symbol,
  descriptor: TypedPropertyDescriptor<M>,
) => void;

type AsyncMethod = (...args: never[]) => Promise<unknown>;

/**
 * A decorator of async methods with arguments that begin with `A` and a result type that includes `Busy`. Static methods,
 * properties and methods that do not return a promise are rejected.
 */
export type AsyncMethodDecorator<A extends unknown[], Busy = never> = <M extends AsyncMethod>(
  target: object & { prototype?: never },
  name: string | symbol,
  descriptor: TypedPropertyDescriptor<M> &
    (Parameters<M> extends [...A, ...unknown[]] ? unknown : never) &
    ([Busy] extends [Awaited<ReturnType<M>>] ? unknown : never),
) => void;
