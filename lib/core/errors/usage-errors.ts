import { LockError, type LockErrorContext } from './lock-error.js';
import { carriedOption, carriedValue, shownValue } from './shown-value.js';

/** An option is out of range. */
export class LockOptionsError extends LockError {
  static override readonly code = 'LOCK_OPTIONS';

  /** Name of the option. */
  readonly option: string;
  /** The given value; in place of an object, and of a text that may contain credentials, only what it is. */
  readonly value: unknown;
  /** Description of a valid value. */
  readonly expected: string;

  constructor(option: string, value: unknown, expected: string, context: LockErrorContext = {}) {
    const carried = carriedOption(value);
    super(
      'LOCK_OPTIONS',
      `Option \`${option}\` is ${shownValue(carried)}. Give ${expected}.`,
      context,
    );
    this.option = option;
    this.value = carried;
    this.expected = expected;
  }
}

/** A decorator is on a method that it cannot lock, or cannot have called. */
export class LockDecoratorTargetError extends LockError {
  static override readonly code = 'LOCK_DECORATOR_TARGET';

  /** Class and method, e.g. `Orders.pay`. */
  readonly method: string;

  /**
   * @param advice what to do instead, as a sentence
   * @param does the operation of the decorator on the method
   */
  constructor(
    decorator: string,
    method: string,
    why: string,
    advice: string,
    does: 'lock' | 'call' = 'lock',
  ) {
    super('LOCK_DECORATOR_TARGET', `@${decorator} cannot ${does} ${method}: ${why}. ${advice}`);
    this.method = method;
  }
}

/** A locked method was called on an instance that Nest has not wired. The method was not run. */
export class LockInterceptorMissingError extends LockError {
  static override readonly code = 'LOCK_INTERCEPTOR_MISSING';

  /** Class and method, e.g. `Orders.pay`. */
  readonly method: string;

  /**
   * @param instance on which the method was called
   * @param given what the instance has in place of an interceptor
   */
  constructor(method: string, instance?: unknown, given?: unknown) {
    const isObject = typeof instance === 'object' && instance !== null;
    const why = isObject ? UNKNOWN_TO_NEST : WITHOUT_INSTANCE;
    super(
      'LOCK_INTERCEPTOR_MISSING',
      `${method} was not run: ${given === undefined ? why : WITH_A_MOCK}`,
    );
    this.method = method;
  }
}

const UNKNOWN_TO_NEST =
  'its instance has no LockInterceptor to take the lock. Let Nest create the instance, in an app or TestingModule that imports LockModule, and call the method on it. Nest knows an instance as a provider, a controller, or, from `app.init()` on, a value of a factory; not one that a factory of request or transient scope has made, as with `new`: make its class a provider instead, with that scope.';
const WITHOUT_INSTANCE =
  'it was called without its instance, as in `const { method } = service`. Call it as `service.method()`, or pass `() => service.method()`.';
const WITH_A_MOCK =
  'what its instance has in place of a LockInterceptor takes no lock, as a mock of `useMocker()`. Add `withoutLocks` to the providers of the test, or import LockTestingModule; both are in nestjs-interlock/testing.';

/** The key cannot name a lock. */
export class LockKeyError extends LockError {
  static override readonly code = 'LOCK_KEY';

  /** The given key; in place of an object only what it is. */
  readonly value: unknown;
  /** What is wrong with the key. */
  readonly why: string;

  constructor(key: unknown, why: string, context: LockErrorContext = {}) {
    const carried = carriedValue(key);
    super('LOCK_KEY', `${shownValue(carried)} cannot be the key of a lock: ${why}.`, {
      ...context,
      key: typeof key === 'string' ? key : undefined,
    });
    this.value = carried;
    this.why = why;
  }
}
