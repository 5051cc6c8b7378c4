import { describe, expect, it } from '@jest/globals';
import * as errors from '../../../lib/core/errors/index.js';
import {
  LockAbortedError,
  LockClientClosedError,
  LockClientUnknownError,
  LockConnectionError,
  LockError,
  LockKeyError,
  LockLostError,
  LockNotHeldError,
  LockOptionsError,
  LockTimeoutError,
} from '../../../lib/core/errors/index.js';
import { withCopy } from '../../support/copies.js';

const CONTEXT = { key: 'door', client: 'unit', cause: new Error('the cause') };

describe('An error of a lock', () => {
  it.each([
    [new LockAbortedError(CONTEXT), 'LOCK_ABORTED', 'see `cause` for the reason'],
    [new LockClientClosedError(CONTEXT), 'LOCK_CLIENT_CLOSED', 'the client is closing'],
    [new LockLostError('its session ended', CONTEXT), 'LOCK_LOST', 'its session ended'],
    [new LockNotHeldError(CONTEXT), 'LOCK_NOT_HELD', 'already released'],
    [new LockTimeoutError(250, CONTEXT), 'LOCK_TIMEOUT', 'not granted within 250 ms'],
  ])('names its lock and client, and says what to do: %s', (error, code, part) => {
    expect(error).toMatchObject({ ...CONTEXT, code, name: error.constructor.name });
    expect(error.message).toContain('lock "door" of client "unit"');
    expect(error.message).toContain(part);
    expect(error.stack).toContain(error.message);
  });

  it.each(Object.entries(errors).filter(([, value]) => (value as { code?: string }).code))(
    'has a name that no minifier shortens: %s',
    (name, value) => {
      const errorClass = value as typeof LockTimeoutError;
      const minified = Object.defineProperty(class extends LockError {}, 'name', { value: 'S' });
      Object.defineProperty(minified, 'code', { value: errorClass.code });
      const error = Reflect.construct(LockError, [errorClass.code, 'text'], minified) as LockError;
      expect(error).toMatchObject({ name, code: errorClass.code });
    },
  );

  it('needs no context', () => {
    const error = new LockTimeoutError(5);
    expect(error.message).toMatch(/^the lock was not granted within 5 ms/);
    expect(error).toMatchObject({ key: undefined, client: undefined });
    expect('cause' in error).toBe(false);
  });

  it('of a time-out names the last seen holder, quoted and cut short', () => {
    const since = new Date('2026-11-25T04:00:00Z');
    const holder = {
      id: 'a:1',
      mode: 'alone',
      host: 'web-1',
      pid: 7,
      method: 'O.pay',
      since,
    } as const;
    const error = new LockTimeoutError(250, { key: 'door', holder });
    expect(error.holder).toBe(holder);
    expect(error.message).toContain(
      'within 250 ms. It was last seen held by "O.pay" on host "web-1" (process 7) since 2026-11-25T04:00:00.000Z. Retry',
    );
    const id = `a\n${'x'.repeat(500)}`;
    const { message } = new LockTimeoutError(250, { key: 'door', holder: { id, mode: 'alone' } });
    expect(message).toMatch(/held by "a\\nx{78}"\. Retry/);
    const whole = new LockTimeoutError(9, { key: 'all', cause: error });
    expect(whole.holder).toBe(holder);
    expect(whole.message).toContain('last seen held by "O.pay"');
  });

  it('of an unknown client names those that there are', () => {
    const messageWith = (...known: string[]) => new LockClientUnknownError('a', known).message;
    expect(messageWith()).toMatch(/^There is no lock client "a"; registered: none\. /);
    expect(messageWith('b', 'c')).toMatch(/; registered: "b", "c"\. /);
  });

  it('is an instance of Error, of LockError, and of its own class only', () => {
    const error = new LockTimeoutError(5);
    expect(error instanceof Error).toBe(true);
    expect(error instanceof LockError).toBe(true);
    expect(error instanceof LockTimeoutError).toBe(true);
    expect(error instanceof LockLostError).toBe(false);
  });

  it.each([undefined, null, 'text', 42, {}, new Error('other'), { code: 'LOCK_TIMEOUT' }])(
    'is not %p',
    (value) => {
      expect(value instanceof LockError).toBe(false);
      expect(value instanceof LockTimeoutError).toBe(false);
    },
  );

  it('is recognised by another copy of the package', async () => {
    await withCopy<typeof errors>('core/errors/index', (copy) => {
      expect(copy.LockTimeoutError).not.toBe(LockTimeoutError);
      expect(new copy.LockTimeoutError(5) instanceof LockTimeoutError).toBe(true);
      expect(new copy.LockTimeoutError(5) instanceof LockError).toBe(true);
      expect(new copy.LockTimeoutError(5) instanceof LockLostError).toBe(false);
      expect(new LockKeyError('', 'it is empty') instanceof copy.LockKeyError).toBe(true);
      expect(new LockConnectionError('no server') instanceof copy.LockError).toBe(true);
    });
  });

  it('may be subclassed by the user: the subclass has only its own instances', () => {
    class RushHourError extends LockTimeoutError {}
    const error = new RushHourError(5, { key: 'door' });
    expect(error).toMatchObject({ name: 'RushHourError', code: 'LOCK_TIMEOUT', waitedMs: 5 });
    expect(error instanceof RushHourError).toBe(true);
    expect(error instanceof LockTimeoutError).toBe(true);
    expect(new LockTimeoutError(5) instanceof RushHourError).toBe(false);
    expect(new LockLostError('gone') instanceof RushHourError).toBe(false);
  });

  it('keeps its brand out of sight', () => {
    expect(JSON.parse(JSON.stringify(new LockNotHeldError({ key: 'door' })))).toEqual({
      name: 'LockNotHeldError',
      code: 'LOCK_NOT_HELD',
      key: 'door',
    });
  });

  it('has a code of its own, the same on class and instance', () => {
    const classes = Object.values(errors).filter((each) => each !== LockError);
    const codes = classes.map(({ code }) => code as string | undefined);
    expect(codes).not.toContain(undefined);
    expect(new Set(codes).size).toBe(classes.length);
    expect(new LockOptionsError('wait', 0, 'more').code).toBe(LockOptionsError.code);
  });
});
