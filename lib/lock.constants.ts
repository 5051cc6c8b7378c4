/**
 * Everything that two copies of this package in one process (ESM and CJS) must share goes through `Symbol.for`. Nest prints the
 * description of a token that it cannot resolve, so each description says what to do.
 */

/** Default name of a lock client. */
export const DEFAULT_LOCK_CLIENT = 'default';

/** Token of the interceptor that every locked method calls. A test without locks may provide `{ around }` for it. */
export const LOCK_INTERCEPTOR: unique symbol = Symbol.for(
  'nestjs-interlock:LockInterceptor (is LockModule.forRoot() imported?)',
);

/** Token of the service `LockClients`; the class itself is known to one copy of this package only. */
export const LOCK_CLIENTS: unique symbol = Symbol.for(
  'nestjs-interlock:LockClients (is LockModule.forRoot() imported?)',
);

/** Token of the service `LeaderElections`; the class itself is known to one copy of this package only. */
export const LEADER_ELECTIONS: unique symbol = Symbol.for(
  'nestjs-interlock:LeaderElections (is LockModule.forRoot() imported?)',
);

/** Token of the optional `LockTracer`. */
export const LOCK_TRACER: unique symbol = Symbol.for('nestjs-interlock:LockTracer');

/** Instance property that holds the interceptor. */
export const INTERCEPTOR_PROPERTY: unique symbol = Symbol.for(
  'nestjs-interlock:interceptor (is LockModule.forRoot() imported?)',
);

/** Metadata key. On a method: its plans, outermost first. On a prototype: the plans of all its methods, by name. */
export const LOCK_PLANS: unique symbol = Symbol.for('nestjs-interlock:plans');

/** Metadata key. On a prototype: the options for all its methods, merged with those of its superclasses. */
export const LOCK_DEFAULTS: unique symbol = Symbol.for('nestjs-interlock:defaults');

/** Metadata key. On a prototype: its methods that are called when leadership is gained or lost. */
export const LEADERSHIP_HANDLERS: unique symbol = Symbol.for('nestjs-interlock:leadershipHandlers');

/** Token of the name of the client that one import of LockModule registers. */
export const LOCK_CLIENT_NAME: unique symbol = Symbol.for(
  'nestjs-interlock:name (import LockModule.forRoot() once in the root module; LockModule itself cannot be imported)',
);

/** Token of the options of that client. */
export const LOCK_OPTIONS: unique symbol = Symbol.for('nestjs-interlock:options');

/** Token of that client, whatever its name. */
export const LOCK_CLIENT: unique symbol = Symbol.for('nestjs-interlock:client');

/** Token of the step that makes that client known to `LockClients`. */
export const LOCK_REGISTRATION: unique symbol = Symbol.for('nestjs-interlock:registration');

/** Token of a factory that replaces `createLockClient` for the clients of an app; `LockTestingModule` provides it. */
export const LOCK_CLIENT_FACTORY: unique symbol = Symbol.for('nestjs-interlock:clientFactory');
