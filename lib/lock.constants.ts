/**
 * Everything that two copies of this package in one process (ESM and CJS) must agree on goes through `Symbol.for`.
 * Nest prints the description of a token that it cannot resolve, so each says what to do.
 */

/** Name of a client that was not given one. */
export const DEFAULT_LOCK_CLIENT = 'default';

/** Token of the interceptor that every locked method calls. A test without locks may provide `{ around }` for it. */
export const LOCK_INTERCEPTOR: unique symbol = Symbol.for(
  'nestjs-interlock:LockInterceptor (is LockModule.forRoot() imported?)',
);

/** Token of the `LockTracer`, where there is one. */
export const LOCK_TRACER: unique symbol = Symbol.for('nestjs-interlock:LockTracer');

/** Property in which an instance keeps its interceptor. */
export const INTERCEPTOR_PROPERTY: unique symbol = Symbol.for(
  'nestjs-interlock:interceptor (is LockModule.forRoot() imported?)',
);

/** Metadata key: of a method, its plans, outermost first; of a prototype, those of all its methods by name. */
export const LOCK_PLANS: unique symbol = Symbol.for('nestjs-interlock:plans');

/** Metadata key: of a prototype, the options for all its methods, with those of the classes above. */
export const LOCK_DEFAULTS: unique symbol = Symbol.for('nestjs-interlock:defaults');

/** Metadata key: of a prototype, its methods that are told of a leadership. */
export const LEADERSHIP_HANDLERS: unique symbol = Symbol.for('nestjs-interlock:leadershipHandlers');

/** Name of the client of one import of LockModule. */
export const LOCK_CLIENT_NAME: unique symbol = Symbol.for(
  'nestjs-interlock:name (import LockModule.forRoot() once in the root module; LockModule itself cannot be imported)',
);

/** The client of one import of LockModule, whatever its name. */
export const LOCK_CLIENT: unique symbol = Symbol.for('nestjs-interlock:client');

/** Makes the clients of an app instead of `createLockClient`: `LockTestingModule` provides it. */
export const LOCK_CLIENT_FACTORY: unique symbol = Symbol.for('nestjs-interlock:clientFactory');
