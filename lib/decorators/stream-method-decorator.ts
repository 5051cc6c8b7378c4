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
