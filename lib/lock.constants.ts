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

/** Property in which an instance keeps its interceptor. */
export const INTERCEPTOR_PROPERTY: unique symbol = Symbol.for('nestjs-interlock:interceptor');

/** Metadata key: of a method, its plans, outermost first; of a prototype, those of all its methods by name. */
export const LOCK_PLANS: unique symbol = Symbol.for('nestjs-interlock:plans');

/** Name of the client of one import of LockModule. */
export const LOCK_CLIENT_NAME: unique symbol = Symbol.for(
  'nestjs-interlock:name (import LockModule.forRoot() once in the root module; LockModule itself cannot be imported)',
);

/** The client of one import of LockModule, whatever its name. */
export const LOCK_CLIENT: unique symbol = Symbol.for('nestjs-interlock:client');
