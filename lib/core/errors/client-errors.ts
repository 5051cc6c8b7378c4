import { contextText, LockError, type LockErrorContext } from './lock-error.js';

/** The client is shutting down or closed: it grants no more locks, and its waiters reject with this error. */
export class LockClientClosedError extends LockError {
  static override readonly code = 'LOCK_CLIENT_CLOSED';

  constructor(context: LockErrorContext = {}) {
    super(
      'LOCK_CLIENT_CLOSED',
      `${contextText(context)} cannot be acquired: the client is closing. Let the work end, or start it again in another process.`,
      context,
    );
  }
}

/** Two lock clients of one app have the same name. */
export class LockClientDuplicateError extends LockError {
  static override readonly code = 'LOCK_CLIENT_DUPLICATE';

  constructor(
    client: string,
    message = `Two lock clients are called "${client}". LockModule is global: import it once per client, and name each additional client: LockModule.forRoot({ name: 'other' }), injected with @InjectLockClient('other').`,
  ) {
    super('LOCK_CLIENT_DUPLICATE', message, { client });
  }

  /**
   * The app imports LockModule from two copies of this package.
   *
   * @internal
   */
  static ofCopies(client: string): LockClientDuplicateError {
    return new LockClientDuplicateError(
      client,
      `Lock client "${client}" was not registered: this app has LockModule from two copies of nestjs-interlock, and the clients of one would be unknown to the other. Load it either by \`import\` or by \`require\` everywhere, and install it once (\`npm ls nestjs-interlock\`).`,
    );
  }
}

/** No lock client of that name is registered. */
export class LockClientUnknownError extends LockError {
  static override readonly code = 'LOCK_CLIENT_UNKNOWN';

  /**
   * @param known names of the registered clients
   * @param method class and method that use it, e.g. `Orders.pay`
   */
  constructor(client: string, known: readonly string[], method?: string) {
    const asked = method === undefined ? '' : `, which ${method} asks for`;
    const there = known.length === 0 ? 'none' : known.map((name) => `"${name}"`).join(', ');
    super(
      'LOCK_CLIENT_UNKNOWN',
      `There is no lock client "${client}"${asked}; registered: ${there}. Register it with LockModule.forRoot({ name: '${client}' }), or name one of those.`,
      { client },
    );
  }
}

/** The servers could not be reached, or rejected the request. `message` says which, and what to do. */
export class LockConnectionError extends LockError {
  static override readonly code = 'LOCK_CONNECTION';

  constructor(message: string, context: LockErrorContext = {}) {
    super('LOCK_CONNECTION', message, context);
  }
}

/**
 * So many acquires of the client are under way that it takes no more: see its options `maxWaiters` and `maxWaitersPerKey`. Nothing
 * was sent to the servers, so it is not known whether the lock is free.
 */
export class LockQueueFullError extends LockError {
  static override readonly code = 'LOCK_QUEUE_FULL';

  constructor(
    /** The option that sets the limit. */
    readonly option: 'maxWaiters' | 'maxWaitersPerKey',
    /** Number of acquires under way: of the key, or of the client. */
    readonly waiting: number,
    context: LockErrorContext = {},
  ) {
    const of = option === 'maxWaiters' ? 'this client' : 'that key';
    super(
      'LOCK_QUEUE_FULL',
      `${contextText(context)} was not requested: ${waiting} acquires of ${of} are under way, and \`${option}\` allows no more. Check what holds the locks (\`activity()\`), give every wait a bound (\`wait\`), send fewer calls, or raise the option.`,
      context,
    );
  }
}
