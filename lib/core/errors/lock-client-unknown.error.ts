import { LockError } from './lock-error.js';

/** No lock client of that name is registered. */
export class LockClientUnknownError extends LockError {
  static override readonly code = 'LOCK_CLIENT_UNKNOWN';

  /**
   * @param known names of the clients that there are
   * @param method class and method that asked for it, e.g. `Orders.pay`
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
