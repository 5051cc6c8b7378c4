import { LockOptionsError, type LockErrorContext } from '../../core/errors/index.js';

/** @throws LockOptionsError unless it is an id as a lease, or Redisson, tells it */
export function validatePermitId(id: unknown, context: LockErrorContext): void {
  if (typeof id === 'string' && /^[0-9a-f]{32}$/i.test(id)) return;
  throw new LockOptionsError(
    'permitId',
    id,
    'the id of a permit, 32 hexadecimal digits, as `permitIds` of a lease tells it',
    context,
  );
}
