import { describe, expect, it } from '@jest/globals';
import { LockKeyError, LockOptionsError } from '../../../lib/core/errors/index.js';
import { nearestAmong } from '../../../lib/core/internal/option-names.js';
import { validateAcquireOptions, validateLockKey } from '../../../lib/core/internal/validation.js';

describe('A key', () => {
  it.each([
    'a',
    'a b',
    'order:42',
    'ключ',
    '🔒',
    '👩‍🔧',
    'null-safety',
    'annulled',
    '/a/path',
    'x'.repeat(512),
    '€'.repeat(170),
  ])('may be %j', (key) => expect(() => validateLockKey(key)).not.toThrow());

  it.each([
    [undefined, 'undefined', 'it must be a string'],
    [null, 'null', 'it must be a string'],
    [42, '42', 'it must be a string'],
    [{ id: 1 }, 'an object', 'it must be a string'],
    [Object.create(null), 'an object', 'it must be a string'],
    [Symbol('door'), 'Symbol(door)', 'it must be a string'],
    ['', '""', 'it is empty'],
    ['[object Object]', '"[object Object]"', 'an object was turned into text'],
    [' ', '" "', 'it is blank'],
    ['\u200b', 'cannot', 'it is blank'],
    ['undefined', '"undefined"', '"undefined" in it is a value that is missing'],
    ['order:undefined', 'order', '"undefined" in it is a value that is missing'],
    ['null/7', '"null/7"', '"null" in it is a value that is missing'],
    ['a|NaN#b', '"a|NaN#b"', '"NaN" in it is a value that is missing'],
    ['order:[object Object]', 'order', 'an object was turned into text'],
    ['order:[object Promise]', 'order', 'an object was turned into text'],
    ['order:[object Map Iterator]', 'order', 'an object was turned into text'],
    ['a\0b', '"a\\u0000b"', 'it contains the control character U+0000'],
    ['a\nb', '"a\\nb"', 'it contains the control character U+000A'],
    ['a\u0085b', 'a', 'it contains the control character U+0085'],
    ['a\ud800b', '"a\\ud800b"', 'it contains a lone surrogate'],
    ['\udc00', '"\\udc00"', 'it contains a lone surrogate'],
    ['x'.repeat(513), 'xxx', 'it takes 513 bytes, and the maximum is 512'],
    ['€'.repeat(171), '€€€', 'it takes 513 bytes, and the maximum is 512'],
  ])('may not be %p', (key, shown, why) => {
    const error = refusal(key);
    expect(error).toBeInstanceOf(LockKeyError);
    expect(error).toMatchObject({ code: 'LOCK_KEY', name: 'LockKeyError', client: 'unit' });
    expect(error.message).toContain(shown);
    expect(error.message).toContain(`cannot be the key of a lock: ${why}`);
    expect(error.why).toContain(why);
    expect(error.key).toBe(typeof key === 'string' ? key : undefined);
  });

  it('is cut short in the message', () => {
    expect(refusal('x'.repeat(10_000)).message.length).toBeLessThan(200);
  });

  function refusal(key: unknown): LockKeyError {
    try {
      validateLockKey(key, { client: 'unit' });
    } catch (error) {
      return error as LockKeyError;
    }
    throw new Error('the key was taken');
  }
});

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
    ['method', 7, '7'],
    ['method', { url: 'redis://me:s3cret@host' }, 'an object'],
    ['signal', null, 'null'],
    ['signal', {}, 'an object'],
    ['signal', { aborted: false }, 'an object'],
    ['signal', new AbortController(), 'an object of the class AbortController'],
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

describe('A misspelt option', () => {
  const suggested = (name: string) => nearestAmong(name, ['wait', 'signal', 'fairness']);

  it.each([
    ['wiat', 'wait', 'two letters are swapped'],
    ['wai', 'wait', 'one is missing'],
    ['waitt', 'wait', 'one is too much'],
    ['sigmal', 'signal', 'one is another'],
    ['farinss', 'fairness', 'two are swapped, one is missing'],
    ['Sig_nal', 'signal', 'it is written as elsewhere'],
  ])('"%s" is taken for "%s": %s', (name, meant) => expect(suggested(name)).toBe(`\`${meant}\``));

  it.each([
    ['wiot', 'two letters of four are others'],
    ['wtai', 'three letters changed places'],
    ['ttl', 'it is like none'],
    ['fnrsse', 'four of eight are missing or swapped'],
  ])('"%s" is taken for none: %s', (name) => expect(suggested(name)).toBeUndefined());
});
