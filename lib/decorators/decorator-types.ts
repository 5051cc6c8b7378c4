import type { Observable } from 'rxjs';

/** The tuple with its elements as `unknown`: only how many there are, and which are optional. */
type Erased<T> = { [K in keyof T]: unknown };

/**
 * The type of the name of a method: what is wrong with the method, as the compiler shows it, or any name. A method takes as many
 * arguments as a function of `A` and the placeholders of `K` need, and `Result` includes `Busy`. `Q` is inferred as the arguments
 * where these have what the placeholders name, otherwise as `ArgumentsFor<K>`, its constraint.
 */
type NameOf<
  M extends (...args: never[]) => unknown,
  A extends unknown[],
  Busy,
  Result,
  K extends string,
  Q extends ArgumentsFor<K>,
> = NameIf<
  Erased<Parameters<M>> extends Erased<[...A, ...unknown[]]> ? true : false,
  'The method takes fewer arguments than a function of the decorator needs, or they may be missing.',
  NameIf<
    Holding<Busy> extends Holding<Result> ? true : false,
    'A call may end without having run the method: add what it gives then to the declared result, such as `Promise<number | undefined>`.',
    NameIf<
      [IndexOf<PathsOf<K>>] extends [keyof Erased<Parameters<M>>] ? true : HasRest<Parameters<M>>,
      'The key has a placeholder for an argument that the method does not take: `{0}` is the first one.',
      NameIf<
        [ArgumentsFor<K>] extends [Q] ? HasNone<IndexOf<PathsOf<K>> & keyof Q> : true,
        'The key has a placeholder for a property that the argument does not have, or may not have: use a function.'
      >
    >
  >
>;
/** For comparing types: of a tuple that has a type parameter of the class in it, the compiler decides nothing. */
interface Holding<T> {
  value: T;
}
type HasNone<T> = [T] extends [never] ? true : false;
type HasRest<T extends unknown[]> = number extends T['length'] ? true : false;
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

/** The paths in the placeholders of literal keys: `'0.id'` of `'order:{0.id}'`; other braces are plain text. */
type PathsOf<K extends string> = K extends `${string}{${infer Path}}${infer Rest}`
  ? Path extends `${string}{${infer Inner}`
    ? PathsOf<`{${Inner}}${Rest}`>
    : PathOf<Path> | PathsOf<Rest>
  : never;
type PathOf<P extends string> = P extends `-${string}` | `${string}.` | `${string}..${string}`
  ? never
  : P extends `${bigint}` | `${bigint}.${string}`
    ? P
    : never;

/** The index of the argument that a path begins with. */
type IndexOf<Path> = Path extends `${infer Index}.${string}` ? Index : Path;

/** What a path requires of a value: the property; of one that an index names, an array will do. */
type Having<Path> = Path extends `${infer Field}.${infer Rest}`
  ? HavingField<Field, Having<Rest>>
  : HavingField<Path & string, unknown>;
type HavingField<Field extends string, Value> =
  { readonly [F in Field]: Value } | (Field extends `${bigint}` ? readonly Value[] : never);

/**
 * What the path of a placeholder requires of the arguments of a method. It constrains them, as `Taking` says, so it is made of
 * the key alone. Whether there is such an argument at all, `NameOf` checks.
 */
type Requirement<Path> = Path extends `${infer Index}.${infer Rest}`
  ? { readonly [I in Index]?: Having<Rest> }
  : unknown;

/** The arguments that the placeholders of literal keys require. */
type ArgumentsFor<K extends string> = unknown[] & AllOf<PathsOf<K>>;
type AllOf<Path> = (Path extends unknown ? (required: Requirement<Path>) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;

/** An async generator is an iterator; so is what libraries return for events, which has less. */
type Stream = Observable<unknown> | AsyncIterableIterator<unknown, unknown, never>;
type StreamMethod = (...args: never[]) => Stream;

type ValueOf<S> =
  S extends Observable<infer T>
    ? T
    : S extends AsyncIterableIterator<infer T, unknown, never>
      ? T
      : never;

/** The return type of a generator; `unknown` for an Observable. */
type EndOf<S> = S extends AsyncIterableIterator<unknown, infer T, never> ? T : unknown;

/**
 * As `AsyncMethodDecorator`, for methods that return an `Observable` or an async iterator. The value type includes `Busy`.
 * For methods that may end without having run, the return type of a generator includes `Early`.
 */
export type StreamMethodDecorator<
  A extends unknown[],
  Busy = never,
  Early = never,
  K extends string = string,
> = <M extends StreamMethod, P extends [...A, ...unknown[]], Q extends ArgumentsFor<K>>(
  target: object & { prototype?: never },
  name: NameOf<M, A, [Busy, Early], [ValueOf<ReturnType<M>>, EndOf<ReturnType<M>>], K, Q>,
  descriptor: TypedPropertyDescriptor<M> & Taking<P> & Taking<Q>,
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
 * A decorator of async methods with arguments that begin with `A` and have what the placeholders of the literal keys `K` stand
 * for, and with a result type that includes `Busy`. Static methods, properties and methods that do not return a promise are
 * rejected.
 */
export type AsyncMethodDecorator<A extends unknown[], Busy = never, K extends string = string> = <
  M extends AsyncMethod,
  P extends [...A, ...unknown[]],
  Q extends ArgumentsFor<K>,
>(
  target: object & { prototype?: never },
  name: NameOf<M, A, Busy, Awaited<ReturnType<M>>, K, Q>,
  descriptor: TypedPropertyDescriptor<M> & Taking<P> & Taking<Q>,
) => void;
