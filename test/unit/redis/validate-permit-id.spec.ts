import { describe, expect, it } from '@jest/globals';
import { LockOptionsError } from '../../../lib/core/errors/index.js';
import { newPermitHolder, permitIdsOf } from '../../../lib/redis/locks/permit-holder.js';
import { validatePermitId } from '../../../lib/redis/semaphores/redis-permit-expirable-semaphore.js';

const ABOUT = { key: 'seats', client: 'test' };

describe('The id of a permit', () => {
  it.each([...permitIdsOf(newPermitHolder(2)), '0123456789abcdef0123456789ABCDEF'])(
    'may be %p',
    (id) => {
      expect(() => validatePermitId(id, ABOUT)).not.toThrow();
    },
  );

  it.each([
    '',
    'a'.repeat(31),
    'a'.repeat(33),
    `${'a'.repeat(32)}\n`,
    ` ${'a'.repeat(31)}`,
    'g'.repeat(32),
    32,
    null,
    undefined,
    ['a'.repeat(32)],
    Buffer.alloc(16),
  ])('may not be %p', (id) => {
    expect(() => validatePermitId(id, ABOUT)).toThrow(LockOptionsError);
    expect(() => validatePermitId(id, ABOUT)).toThrow(
      expect.objectContaining({ ...ABOUT, option: 'permitId', message: expect.any(String) }),
    );
  });
});
