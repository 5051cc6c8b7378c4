/** The same database, whose transactions begin only after `begin`. */
export function heldUp<T extends object>(database: T, method: keyof T, begin: () => Promise<void>) {
  return new Proxy(database, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (typeof value !== 'function') return value;
      if (property !== method) return value.bind(target) as unknown;
      return async (...args: unknown[]): Promise<unknown> => {
        await begin();
        return value.apply(target, args);
      };
    },
  });
}
