import { beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { LockConnectionError, LockLostError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import { type RedisCommand, redisCommands, redisScript } from '../../lib/redis/redis-write.js';
import { eventually } from '../support/time.js';
import type { CommandFilter } from '../support/redis-proxy.js';
import { KINDS, onLateCopies } from './support/late-copies.js';

describe('A guarded write counts once:', () => {
  const stage = onLateCopies();
  const name = () => `{${stage().key}}:data`;
  const value = () => stage().server.command('GET', name());
  const isWrite: CommandFilter = ([command, ...args]) =>
    /^eval/i.test(command!) && args.includes(name());
  const increment = (lease: Lease, ...more: RedisCommand[]) =>
    lease.guard(redisCommands([['incr', name()], ...more]));

  beforeEach(async () => {
    const write = redisCommands([['incr', randomUUID()]]);
    await stage()
      .mine.mutex(randomUUID())
      .using((lease) => lease.guard(write)); // the server knows the script
  });

  describe.each([
    ['that was held up', 'late'],
    ['that was carried out before, but not answered', 'unanswered'],
    ['that was answered before', 'replayed'],
  ] as const)('a copy %s,', (_, way) => {
    it.each(KINDS)('under a %s, writes nothing', async (_name, of) => {
      const { mine, key } = stage();
      await using lease = await of(mine, key).acquire();
      const [replies, copy] = await stage()[way](() => increment(lease), isWrite);
      expect(replies).toEqual([1]);
      await stage().arrive(copy);
      expect(await value()).toBe('1');
      expect(await increment(lease)).toEqual([2]);
    });

    it('after the next one under the same lock, writes nothing', async () => {
      const { mine, key } = stage();
      await using lease = await mine.mutex(key).acquire();
      const [, copy] = await stage()[way](() => increment(lease), isWrite);
      expect(await increment(lease)).toEqual([2]);
      await stage().arrive(copy);
      expect(await value()).toBe('2');
    });

    it.each(KINDS)(
      'under a %s that others have by now, writes nothing',
      async (_name, of, rival) => {
        const { mine, theirs, key } = stage();
        const lease = await of(mine, key).acquire();
        const [replies, copy] = await stage()[way](() => increment(lease), isWrite);
        expect(replies).toEqual([1]);
        await lease.release();
        await using _ = await rival(theirs, key).acquire();
        await stage().arrive(copy);
        expect(await value()).toBe('1');
      },
    );
  });

  it('a copy of one that has failed writes nothing', async () => {
    const { mine, key, server } = stage();
    await server.command('SET', `${name()}-text`, 'no hash');
    await using lease = await mine.mutex(key).acquire();
    const write = () => increment(lease, ['hget', `${name()}-text`, 'field']).catch(String);
    const [refusal, copy] = await stage().replayed(write, isWrite);
    expect(refusal).toMatch(/WRONGTYPE/);
    await stage().arrive(copy);
    expect(await value()).toBe('1');
  });

  it('one that has failed without an answer is reported as unknown, and not repeated', async () => {
    const { mine, key, server } = stage();
    await server.command('SET', `${name()}-text`, 'no hash');
    await using lease = await mine.mutex(key).acquire();
    const write = () =>
      increment(lease, ['hget', `${name()}-text`, 'field']).catch((error: unknown) => error);
    const [error] = await stage().unanswered(write, isWrite);
    expect(error).toBeInstanceOf(LockConnectionError);
    expect(error).toHaveProperty('message', expect.stringContaining('unknown whether it was'));
    expect(await value()).toBe('1');
    expect(lease.isHeld).toBe(true);
  });

  it.each(['SOLD out', 'GONE the order', 'BUSY the seat'])(
    'one that has returned the error %j without an answer rejects with it, and is not repeated',
    async (text) => {
      const { mine, key } = stage();
      await using lease = await mine.mutex(key).acquire();
      const script = `redis.call('incr', KEYS[1]) return redis.error_reply(ARGV[1])`;
      const write = redisScript(script, [name()], [text]);
      await lease.guard(write).catch(() => {}); // the server knows the script
      const rejected = () => lease.guard(write).catch((error: unknown) => error);
      const [error, copy] = await stage().unanswered(rejected, isWrite);
      expect(error).toMatchObject({ name: 'ReplyError', message: text });
      await stage().arrive(copy);
      expect(await value()).toBe('2');
    },
  );

  it('one that is not answered while the lock is held is reported as unknown, and comes too late', async () => {
    const { mine, theirs, key, proxy } = stage();
    const lease = await mine.mutex(key).acquire({ lease: 400 });
    const copy = proxy.strand(isWrite);
    const write = increment(lease);
    const outcome = expect(write).rejects.toMatchObject({
      code: 'LOCK_CONNECTION',
      key,
      cause: expect.any(LockLostError),
    });
    await eventually('it is under way', () => copy.count);
    await outcome;
    await using next = await theirs.mutex(key).acquire();
    expect(await increment(next)).toEqual([1]);
    copy.giveUp();
    await stage().arrive(copy);
    expect(await value()).toBe('1');
  });

  it('one that is not answered within the `connectTimeout` is reported as unknown', async () => {
    const { key, proxy } = stage();
    const mine = await stage().client(proxy.port, { connectTimeout: 500 });
    await using lease = await mine.mutex(key).acquire();
    const copy = proxy.strand(isWrite);
    const error = await increment(lease).catch((it: unknown) => it);
    expect(error).toMatchObject({ code: 'LOCK_CONNECTION', key });
    expect(String(error)).toMatch(/within 500 ms: it is unknown whether it was carried out/);
    expect([copy.count, lease.isHeld]).toEqual([1, true]);
    copy.giveUp();
  });

  it('one that is refused, with a copy that may be under way, is reported as unknown', async () => {
    const { key, proxy, server } = stage();
    const mine = await stage().client(proxy.port, { connectTimeout: 3_000 });
    const refused = new Promise<void>((resolve) => {
      mine.on('connection', ({ state }) => state === 'REFUSED' && resolve());
    });
    await using lease = await mine.mutex(key).acquire();
    await server.command('CONFIG', 'SET', 'maxmemory', 1);
    try {
      const failed = increment(lease).catch(String);
      await refused;
      proxy.cut();
      expect(await failed).toMatch(/within 3000 ms: it is unknown whether it was carried out/);
    } finally {
      await server.command('CONFIG', 'SET', 'maxmemory', 0);
    }
  });

  it('is carried out when the connection is back, if it was away', async () => {
    const { mine, key, proxy } = stage();
    await using lease = await mine.mutex(key).acquire();
    proxy.cut();
    expect(await Promise.all([increment(lease), increment(lease)])).toEqual([[1], [2]]);
  });

  it('after a release that was answered the server keeps nothing of it', async () => {
    const { mine, key } = stage();
    await mine.mutex(key).using((lease) => increment(lease));
    await mine.ping(10_000);
    expect(await stage().keys()).toEqual([name()]);
  });
});
