import { describe, expect, it } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import { createRequire } from 'node:module';
import { LockOptionsError } from '../../../lib/core/errors/index.js';
import {
  type BackOff,
  ConstantBackOff,
  ExponentialBackOff,
} from '../../../lib/redis/locks/back-off.js';
import { createRedisLockClient } from '../../../lib/redis/create-redis-lock-client.js';
import { type IoRedis, isIoRedisPackage } from '../../../lib/redis/drivers.js';
import { makeClient } from '../../../lib/redis/make-client.js';
import type { NodeRedis } from '../../../lib/redis/node-redis/node-redis.js';
import { newPermitHolder, permitIdsOf } from '../../../lib/redis/semaphores/permit-holder.js';
import { driftAdjustedDeadline } from '../../../lib/redis/locks/redis-grant.js';
import type { RedisLockOptions } from '../../../lib/redis/redis-options.js';
import { validateLease } from '../../../lib/redis/locks/redis-lease.js';
import { validatePermitId } from '../../../lib/redis/semaphores/redis-permit-expirable-semaphore.js';
import { seededRandom } from '../../support/seeded-random.js';

describe('The safe deadline of a lease', () => {
  it.each([100, 300, 30_000, 2 ** 31 - 1])('of %d ms is before its end, by any clock', (lease) => {
    const deadline = driftAdjustedDeadline(1_000, lease);
    expect(deadline).toBeGreaterThan(1_000);
    const byAFastClock = (deadline - 1_000) * 1.01; // one that runs one percent faster than ours
    expect(byAFastClock).toBeLessThan(lease);
  });

  it('leaves most of the shortest lease', () => {
    expect(driftAdjustedDeadline(0, 100)).toBeCloseTo(97);
  });
});

describe('A lease', () => {
  const refusing = (lease: unknown, roundTrip?: number) => () =>
    validateLease('lease', lease, { key: 'orders' }, roundTrip);

  it.each([100, 101, 30_000, 2 ** 31 - 1])('may have %d ms', (lease) => {
    expect(refusing(lease)).not.toThrow();
  });

  it.each([99, 0, -1, 100.5, 2 ** 31, NaN, Infinity, '100', null, undefined, 100n])(
    'may not have %p ms',
    (lease) => {
      expect(refusing(lease)).toThrow(LockOptionsError);
    },
  );

  it('needs time for three round trips', () => {
    expect(refusing(300, 100)).not.toThrow();
    expect(refusing(299, 100)).toThrow(/three round trips to the server, which takes 100 ms/);
  });
});

describe('A Redis client', () => {
  const create = (options: RedisLockOptions) => createRedisLockClient('unit', options);

  it.each<RedisLockOptions>([
    { connect: 'redis://localhost' },
    { connect: 'rediss://me:p%40%2Fss@[::1]:6380/2?family=6' },
    { connect: 'redis://localhost:6379/\n' },
    { connect: 'redis://redis-1?username=me&password=p%40ss&connectionName=shop&family=0' },
    { connect: 'redis://me:pass@localhost/4?allowUsernameInURI=true' },
    { connect: { path: '/run/redis.sock', password: 'a/b' } },
    { connect: { host: 'redis-1', port: '6379', url: 'redis://redis-1' } },
    { connect: { sentinels: [{ host: '::1', port: 26_379 }], name: 'orders' } },
    { connect: {} },
    { cluster: { nodes: ['redis-1:7000', '[::1]:7000', 'redis://redis-2:7000'] } },
    { cluster: { nodes: [{ host: 'redis-1', port: 7_000 }], options: { redisOptions: {} } } },
  ])('may have %j', async (options) => {
    await (await create(options)).close();
  });

  it.each([
    [3, true],
    [0, false],
  ])('in database %d looks at the server before it sends what waits: %p', async (db, looks) => {
    const unready = { db, enableReadyCheck: false, lazyConnect: true };
    const template = new Redis(unready);
    for (const options of [{ connect: unready }, { client: template }]) {
      const client = await makeClient('unit', options);
      expect(client.options).toMatchObject({ db, enableReadyCheck: looks });
    }
    expect(template.options.enableReadyCheck).toBe(false);
  });

  it.each([
    ['localhost:6379', true],
    ['10.0.0.1:6379', true],
    ['[::1]:6379', true],
    ['redis-1:6379', false],
    ['s3cret', false],
    ['me:s3cret@localhost', false],
  ])('may not have the `connect` %j; it is shown: %p', async (connect, isShown) => {
    const error: unknown = await create({ connect }).catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(LockOptionsError);
    expect((error as Error).message.includes(connect)).toBe(isShown);
  });

  const lazy = { lazyConnect: true };
  const others = ['redis://redis-2', 'redis://redis-3'];

  it.each([
    'keyPrefix=shop:',
    'family=6&key%50refix=shop:',
    'autoResendUnfulfilledCommands=',
    'lazyConnect=',
    'enableAutoPipelining=false', // a text, and so true
    'scaleReads=slave',
    'shardedSubscribers=true',
    'stringNumbers=true',
    'path=/run/redis.sock',
    'db=3', // unknown to node-redis
  ])('may not have %s in the query of a URL', async (query) => {
    const url = `redis://:s3cret@redis-1:6379/0?${query}`;
    const all: [option: string, RedisLockOptions][] = [
      ['connect', { connect: url }],
      ['connect', { connect: url, driver: 'node-redis' }],
      ['cluster.nodes', { cluster: { nodes: [...others, url] } }],
      ['nodes', { nodes: [...others, url] }],
      ['client', { client: new Cluster([...others, url], lazy) }],
    ];
    for (const [option, options] of all) {
      const error: unknown = await create(options).catch((failure: unknown) => failure);
      expect(error).toBeInstanceOf(LockOptionsError);
      expect(error).toMatchObject({ option, client: 'unit' });
      expect(String(error)).toContain('in its query');
      expect(String(error)).toContain('stand in an object');
      expect(String(error)).not.toContain('s3cret');
    }
  });

  it.each(['family=6', 'username=shop&password=s3cret', 'connectionName=shop'])(
    'may not have %s in the query of a URL for node-redis, which would not use it',
    async (query) => {
      const url = `redis://redis-1:6379/0?${query}`;
      const all: [option: string, RedisLockOptions][] = [
        ['connect', { connect: url }],
        ['cluster.nodes', { cluster: { nodes: [...others, url] } }],
      ];
      for (const [option, options] of all) {
        const creating = create({ ...options, driver: 'node-redis' });
        const error: unknown = await creating.catch((failure: unknown) => failure);
        expect(error).toMatchObject({ code: 'LOCK_OPTIONS', option, client: 'unit' });
        expect(String(error)).not.toContain('s3cret');
        await (await create(options)).close();
      }
    },
  );

  it.each(['keyPrefix', 'autoResendUnfulfilledCommands'])(
    'may not have an own %s for one node of a cluster',
    async (option) => {
      const bad = { keyPrefix: 'shop:', autoResendUnfulfilledCommands: false }[option];
      const nodes = [{ host: 'redis-1', port: 6_379, [option]: bad }];
      const refusal = { code: 'LOCK_OPTIONS', option };
      await expect(create({ cluster: { nodes } })).rejects.toMatchObject(refusal);
      const client = new Cluster(nodes, lazy);
      await expect(create({ client })).rejects.toMatchObject(refusal);
    },
  );
});

describe('The package that connects', () => {
  /** Everything that it has is an export, as in a bundle. */
  const load = createRequire(import.meta.url) as (name: string) => IoRedis & NodeRedis;

  it.each([
    ['ioredis', true],
    ['ioredis5', true],
    ['iovalkey', true],
    ['redis', false],
    ['redis5', false],
  ])('is known in a bundle, too: %s', (name, isIoRedis) => {
    expect('createClient' in load(name)).toBe(true);
    expect(isIoRedisPackage(load(name))).toBe(isIoRedis);
  });
});

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

const LEAST = () => 0;
const MOST = () => 1 - Number.EPSILON;
/** No number at all, or not one that a timer can take. */
const NUMBERS = [0, -1, 0.5, NaN, Infinity, 2 ** 31, '5', null, {}] as number[];

describe('An ExponentialBackOff', () => {
  it('grows up to its most, as in Redisson (Redisson: LockOptionsTest testExponentialBackoff)', () => {
    const options = { initialDelay: 10, maxDelay: 100, multiplier: 3 };
    expect(first(5, new ExponentialBackOff(options, LEAST))).toEqual([10, 30, 90, 100, 100]);
    const [one, two, three, ...rest] = first(5, new ExponentialBackOff(options, MOST));
    expect(one).toBe(10);
    expect([30, 31]).toContain(two);
    expect([90, 91, 92]).toContain(three);
    expect(rest).toEqual([100, 100]);
  });

  it('has the defaults of Redisson', () => {
    expect(first(9, new ExponentialBackOff({}, LEAST))).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 128]);
  });

  it('is not the same for all waiters', () => {
    const policy = new ExponentialBackOff({}, seededRandom(7));
    const sums = Array.from({ length: 20 }, () => sum(first(7, policy)));
    expect(new Set(sums).size).toBeGreaterThan(5);
  });

  it('begins anew for each acquire', () => {
    const policy = new ExponentialBackOff({}, LEAST);
    expect(first(3, policy)).toEqual(first(3, policy));
  });

  it('may stay as it begins', () => {
    const options = { initialDelay: 50, maxDelay: 50, multiplier: 1 };
    expect(first(4, new ExponentialBackOff(options, MOST))).toEqual([50, 50, 50, 50]);
  });

  it.each(NUMBERS)('refuses %p', (bad) => {
    for (const option of ['initialDelay', 'maxDelay', 'multiplier'])
      expect(refusal(() => new ExponentialBackOff({ [option]: bad }))).toMatchObject({ option });
  });

  it('refuses to begin with more than its most', () => {
    const refused = refusal(() => new ExponentialBackOff({ initialDelay: 200, maxDelay: 100 }));
    expect(refused).toMatchObject({ option: 'maxDelay', value: 100 });
  });
});

describe('A ConstantBackOff', () => {
  it('has the same delay again and again, but for chance (Redisson: LockOptionsTest testConstantBackoff)', () => {
    const policy = new ConstantBackOff(30, () => 0.5);
    expect(first(4, policy)).toEqual([30, 30, 30, 30]);
  });

  it('is 64 ms long, a quarter more or less', () => {
    expect(first(2, new ConstantBackOff(undefined, LEAST))).toEqual([48, 48]);
    const [most] = first(1, new ConstantBackOff(undefined, MOST));
    expect(most).toBeCloseTo(80);
  });

  it('is not the same for all waiters', () => {
    const policy = new ConstantBackOff(64, seededRandom(7));
    expect(new Set([...first(5, policy), ...first(5, policy)]).size).toBe(10);
  });

  it.each(NUMBERS)('refuses %p', (bad) => {
    const option = 'delay';
    expect(refusal(() => new ConstantBackOff(bad))).toMatchObject({ option, value: bad });
  });
});

function first(count: number, policy: BackOff): number[] {
  const next = policy.delays();
  return Array.from({ length: count }, () => next());
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function refusal(refusing: () => unknown): unknown {
  try {
    return refusing();
  } catch (error) {
    expect(error).toBeInstanceOf(LockOptionsError);
    return error;
  }
}
