import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  jest,
} from '@jest/globals';
import { LockKeyError } from '../../lib/core/errors/index.js';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { RedisServer } from '../support/redis-server.js';
import { RECIPES } from './recipes.js';

const KEY = 'orders';

/** How foreign programs write to the key. */
const TYPES: Record<string, [string, ...(string | number)[]]> = {
  string: ['set', KEY, 'theirs'],
  list: ['rpush', KEY, 'theirs'],
  set: ['sadd', KEY, 'theirs'],
  'sorted set': ['zadd', KEY, 1, 'theirs'],
  stream: ['xadd', KEY, '1-1', 'field', 'theirs'],
};

const CASES = Object.keys(TYPES).flatMap((type) =>
  Object.keys(RECIPES).map((recipe) => ({ type, recipe })),
);

describe('A key that is used for something else', () => {
  let server: RedisServer;
  let client: RedisLockClient;
  let warn: jest.SpiedFunction<typeof process.emitWarning>;

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  beforeEach(async () => {
    warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
    client = await createRedisLockClient('foreign', { connect: server.url });
    await client.connect();
  });
  afterEach(async () => {
    await client.close();
    warn.mockRestore();
    await server.command('flushall');
  });
  afterAll(() => server.stop());

  it.each(CASES)(
    'makes a $recipe reject at once where it is a $type, and is left alone',
    async (one) => {
      const [command, ...operands] = TYPES[one.type]!;
      await server.command(command, ...operands);
      const before = await server.command('dump', KEY);
      const lock = RECIPES[one.recipe]!(client, KEY);

      for (const ask of [() => lock.acquire(), () => lock.tryAcquire()]) {
        const refusal = await ask().catch((error: unknown) => error);
        expect(refusal).toBeInstanceOf(LockKeyError);
        expect(refusal).toMatchObject({ key: KEY, client: 'foreign' });
        expect(String(refusal)).toContain('something other than a lock');
      }
      await client.close(); // its background work is done then
      expect(await server.command('keys', '*')).toEqual([KEY]);
      expect(await server.command('dump', KEY)).toEqual(before);
      expect(warn).not.toHaveBeenCalled();
    },
  );

  it('keeps a mutex waiting where it is a hash, as a foreign lock would', async () => {
    await server.command('hset', KEY, 'field', 'theirs');
    expect(await client.mutex(KEY).tryAcquire()).toBeUndefined();
    await expect(client.mutex(KEY).acquire({ wait: 50 })).rejects.toMatchObject({
      code: 'LOCK_TIMEOUT',
    });
    expect(await server.command('hget', KEY, 'field')).toBe('theirs');
  });

  it.each(['readLock', 'writeLock'] as const)(
    'makes a %s reject where it is a hash',
    async (half) => {
      await server.command('hset', KEY, 'field', 'theirs');
      await expect(client.readWriteLock(KEY)[half]().acquire()).rejects.toBeInstanceOf(
        LockKeyError,
      );
      expect(await server.command('hget', KEY, 'field')).toBe('theirs');
    },
  );

  it('makes the holder lose the lock when it replaces a held lock', async () => {
    const short = await createRedisLockClient('short', {
      connect: server.url,
      watchdogTimeout: 300,
    });
    try {
      await short.connect();
      const lease = await short.mutex(KEY).acquire();
      const lost = new Promise((resolve) => lease.signal.addEventListener('abort', resolve));
      await server.command('set', KEY, 'theirs');
      await lost;
      await lease.release();
      expect(await server.command('get', KEY)).toBe('theirs');
      expect(warn).not.toHaveBeenCalled();
    } finally {
      await short.close();
    }
  });

  it('keeps nothing locked when it replaces the token counter', async () => {
    await server.command('set', `redisson_lock_token:{${KEY}}`, 'theirs');
    const lock = client.mutex(KEY, { fenced: true });
    await expect(lock.acquire()).rejects.toMatchObject({ code: 'LOCK_CONNECTION', key: KEY });
    expect(await lock.isLocked()).toBe(false);
  });
});
