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
