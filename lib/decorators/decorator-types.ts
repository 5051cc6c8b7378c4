import type { Observable } from 'rxjs';

/** The tuple with its elements as `unknown`: only how many there are, and which are optional. */
type Erased<T> = { [K in keyof T]: unknown };

/**
 * The type of the name of a method: what is wrong with the method, as the compiler shows it, or any name. A method takes as many
 * arguments as a function of `A` needs, and `Result` includes `Busy`.
 */
type NameOf<M extends (...args: never[]) => unknown, A extends unknown[], Busy, Result> = NameIf<
  Erased<Parameters<M>> extends Erased<[...A, ...unknown[]]> ? true : false,
  'The method takes fewer arguments than a function of the decorator needs, or they may be missing.',
  NameIf<
    [Busy] extends [Result] ? true : false,
    'A call may end without having run the method: add what it gives then to the declared result, such as `Promise<number | undefined>`.'
  >
>;
type NameIf<Holds extends boolean, Otherwise, Name = string | symbol> = Holds extends true
  ? Name
  : Otherwise;

/**
 * The part of a descriptor by which `P`, the arguments of the method, is inferred. They have to be arguments for a function of
 * `A`: a constraint on `P`, as a conditional type would ignore that of a type parameter of the class.
 */
interface Taking<P extends unknown[]> {
  value?: (...args: P) => unknown;
}

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
  P extends [...A, ...unknown[]],
>(
  target: object & { prototype?: never },
  name: NameOf<M, A, [Busy, Early], [ValueOf<ReturnType<M>>, EndOf<ReturnType<M>>]>,
  descriptor: TypedPropertyDescriptor<M> & Taking<P>,
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
export type AsyncMethodDecorator<A extends unknown[], Busy = never> = <
  M extends AsyncMethod,
  P extends [...A, ...unknown[]],
>(
  target: object & { prototype?: never },
  name: NameOf<M, A, Busy, Awaited<ReturnType<M>>>,
  descriptor: TypedPropertyDescriptor<M> & Taking<P>,
) => void;
