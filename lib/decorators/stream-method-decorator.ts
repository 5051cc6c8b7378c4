import type { Observable, ObservedValueOf } from 'rxjs';

type StreamMethod = (...args: never[]) => Observable<unknown>;

/** As `AsyncMethodDecorator`, of methods that return an `Observable` and may emit a `Busy`. */
export type StreamMethodDecorator<A extends unknown[], Busy = never> = <M extends StreamMethod>(
  target: object & { prototype?: never },
  name: string | symbol,
  descriptor: TypedPropertyDescriptor<M> &
    (Parameters<M> extends [...A, ...unknown[]] ? unknown : never) &
    ([Busy] extends [ObservedValueOf<ReturnType<M>>] ? unknown : never),
) => void;
