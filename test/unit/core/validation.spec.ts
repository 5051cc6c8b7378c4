import { describe, expect, it } from '@jest/globals';
import { LockOptionsError } from '../../../lib/core/errors/index.js';
import { validateAcquireOptions } from '../../../lib/core/internal/validation.js';

describe('Options of an acquire', () => {
  it.each([
    {},
    { wait: 1 },
    { wait: 0.5 },
    { wait: 2 ** 40 },
    { wait: 'forever' as const },
    { wait: undefined, signal: undefined },
    { signal: new AbortController().signal },
  ])('may be %p', (options) => expect(() => validateAcquireOptions(options)).not.toThrow());

  it.each([
    ['wait', 0, '0'],
    ['wait', -5, '-5'],
    ['wait', NaN, 'NaN'],
    ['wait', Infinity, 'Infinity'],
    ['wait', '100', '"100"'],
    ['wait', 'never', '"never"'],
    ['wait', null, 'null'],
    ['wait', 5n, '5n'],
    ['signal', null, 'null'],
    ['signal', {}, '{}'],
    ['signal', new AbortController(), 'AbortController'],
  ])('may not have %s = %p', (option, value, shown) => {
    const validate = () => validateAcquireOptions({ [option]: value }, { key: 'door' });
    expect(validate).toThrow(LockOptionsError);
    expect(validate).toThrow(
      expect.objectContaining({
        code: 'LOCK_OPTIONS',
        option,
        key: 'door',
        message: expect.stringContaining(`\`${option}\` is ${shown}`),
      }),
    );
  });
});
