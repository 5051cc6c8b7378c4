type Handler<A extends unknown[]> = (...args: A) => unknown;

/**
 * A decorator of methods that take arguments `A`, or fewer of them; async or not. Static methods and properties are refused.
 */
export type LeadershipDecorator<A extends unknown[]> = <M extends Handler<A>>(
  target: object & { prototype?: never },
  name: string | symbol,
  descriptor: TypedPropertyDescriptor<M>,
) => void;
