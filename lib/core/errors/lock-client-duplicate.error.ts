import { LockError } from './lock-error.js';

/** Two lock clients of one app have the same name. */
export class LockClientDuplicateError extends LockError {
  static override readonly code = 'LOCK_CLIENT_DUPLICATE';

  constructor(client: string) {
    super(
      'LOCK_CLIENT_DUPLICATE',
      `Two lock clients are called "${client}". LockModule is global: import it once per client, and name every further one: LockModule.forRoot({ name: 'other' }), injected with @InjectLockClient('other').`,
      { client },
    );
  }
}
