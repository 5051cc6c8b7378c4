import { LockOptionsError } from './errors/index.js';

/** Throws the `LockOptionsError` of a backend on which locks live as long as a session. */
export function refuseLease(lease: number, client: string): never {
  throw new LockOptionsError(
    'lease',
    lease,
    'none: on this backend the session is the lease, and `sessionTimeout` its length',
    { client },
  );
}
