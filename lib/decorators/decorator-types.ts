import type { Observable } from 'rxjs';

type Stream = Observable<unknown> | AsyncGenerator<unknown, unknown, never>;
type StreamMethod = (...args: never[]) => Stream;

type ValueOf<S> =
  S extends Observable<infer T> ? T : S extends AsyncGenerator<infer T, unknown, never> ? T : never;

/** What a generator returns; of an Observable, anything. */
type EndOf<S> = S extends AsyncGenerator<unknown, infer T, never> ? T : unknown;

/**
 * As `AsyncMethodDecorator`, of methods that return an `Observable`, or are async generators. They may emit a `Busy`; and
 * where they may end without having run, an `Early` is what a generator may return.
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
 * A decorator of methods that take arguments `A`, or fewer of them; async or not. Static methods and properties are refused.
 */
export type LeadershipDecorator<A extends unknown[]> = <M extends Handler<A>>(
  target: object & { prototype?: never },
  name: string | symbol,
  descriptor: TypedPropertyDescriptor<M>,
) => void;

type AsyncMethod = (...args: never[]) => Promise<unknown>;

/**
 * A decorator of async methods whose arguments begin with `A` and whose result may be a `Busy`.
 * Static methods, properties and methods that do not return a promise are refused.
 */
export type AsyncMethodDecorator<A extends unknown[], Busy = never> = <M extends AsyncMethod>(
  target: object & { prototype?: never },
  name: string | symbol,
  descriptor: TypedPropertyDescriptor<M> &
    (Parameters<M> extends [...A, ...unknown[]] ? unknown : never) &
    ([Busy] extends [Awaited<ReturnType<M>>] ? unknown : never),
) => void;
