import { LockDecoratorTargetError } from '../core/index.js';

/** What a decorator is applied to. */
interface DecoratorTarget {
  /** Class and method, e.g. `Orders.pay`. */
  readonly method: string;
  readonly isStatic: boolean;
}

const STANDARD =
  'Set `experimentalDecorators` and `emitDecoratorMetadata` to true in the tsconfig.json that your compiler, bundler or test runner reads, as Nest needs them.';

/** The second argument of a standard decorator of ECMAScript, whose first one is the value itself. */
interface StandardContext {
  readonly kind: string;
  readonly name?: string | symbol;
}

/** The second argument of a decorator. */
type MemberName = string | symbol | StandardContext | undefined;

const isContext = (name: MemberName): name is StandardContext => typeof name === 'object';

/**
 * What a method decorator is applied to.
 *
 * @param does what the decorator does with a method, for the message
 * @throws LockDecoratorTargetError on a class, and where decorators are those of ECMAScript
 */
export function methodTarget(
  decorator: string,
  target: object,
  name: MemberName,
  does: 'lock' | 'call' = 'lock',
): DecoratorTarget {
  if (isContext(name)) throw standard(decorator, String(name.name ?? 'a class'), does);
  const isStatic = typeof target === 'function';
  const className = (isStatic ? target : target.constructor).name || '(anonymous class)';
  if (name === undefined)
    throw new LockDecoratorTargetError(
      decorator,
      className,
      'it is a class',
      'Put it on each method; @LockDefaults on the class gives them options in common.',
      does,
    );
  return { method: `${className}.${String(name)}`, isStatic };
}

/**
 * The name of the class that a class decorator is applied to.
 *
 * @throws LockDecoratorTargetError on a method, and where decorators are those of ECMAScript
 */
export function classTarget(decorator: string, target: object, name: MemberName): string {
  if (isContext(name)) throw standard(decorator, String(name.name ?? 'a class'), 'lock');
  if (name === undefined) return (target as { name?: string }).name || '(anonymous class)';
  const method = `${target.constructor.name}.${String(name)}`;
  const advice = 'Put it on the class; give options of one method to its lock decorator.';
  throw new LockDecoratorTargetError(decorator, method, 'it is a method', advice);
}

function standard(decorator: string, method: string, does: 'lock' | 'call') {
  const why = 'decorators are compiled as those of ECMAScript, which Nest does not support';
  return new LockDecoratorTargetError(decorator, method, why, STANDARD, does);
}
