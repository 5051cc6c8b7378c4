/** `original` with some of its members replaced; the others are called on `original` itself. */
export function standIn<T extends object>(original: T, replaced: Partial<T>): T {
  return new Proxy(original, {
    get(target, name): unknown {
      if (Object.hasOwn(replaced, name)) return Reflect.get(replaced, name);
      const member: unknown = Reflect.get(target, name, target);
      return member instanceof Function ? (member.bind(target) as unknown) : member;
    },
  });
}
