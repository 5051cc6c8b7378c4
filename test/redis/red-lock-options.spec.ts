import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Cluster, Redis } from 'ioredis';
import { LockOptionsError } from '../../lib/core/errors/index.js';
import { createRedLockClient } from '../../lib/redis/red-lock/create-red-lock-client.js';
import type { RedisLockOptions } from '../../lib/redis/redis-options.js';
import { IndependentRedisServers } from '../support/independent-redis-servers.js';

const lazy = { lazyConnect: true };
const user = new Redis({ ...lazy, port: 1 });
const [a, b, c] = ['redis://:secret@a', 'redis://b:7000', 'redis://c:7001'] as const;

describe('A client of several servers rejects', () => {
  it.each<[string, RedisLockOptions, option: string, says: RegExp]>([
    ['no server', { nodes: [] }, 'nodes', /at least 3 servers, and an odd number/],
    ['one', { nodes: [a] }, 'nodes', /at least 3 servers/],
    ['two', { nodes: [a, b] }, 'nodes', /at least 3 servers/],
    ['something else', { nodes: 'redis://a' as never }, 'nodes', /at least 3 servers/],
    ['a hole', { nodes: [a, undefined as never, c] }, 'nodes', /for each server a URL/],
    ['null', { nodes: [a, null as never, c] }, 'nodes', /for each server a URL/],
    ['a number', { nodes: [a, 6379 as never, c] }, 'nodes', /a URL such as/],
    ['an address without a scheme', { nodes: [a, 'b:7000', c] }, 'nodes', /a URL such as/],
    ['the same address twice', { nodes: [a, b, 'redis://a:6379/1'] }, 'nodes', /each of them once/],
    [
      'the same address in two forms',
      { nodes: [a, b, { host: 'b', port: 7_000 }] },
      'nodes',
      /each of them once/,
    ],
    ['the same ioredis client twice', { nodes: [user, b, user] }, 'nodes', /each of them once/],
    [
      'a cluster among them',
      { nodes: [a, b, new Cluster([{ host: 'c', port: 1 }], lazy)] },
      'nodes',
      /independent servers; a cluster is one client of its own/,
    ],
    ['a client besides', { nodes: [a, b, c], client: user }, 'nodes', /one of/],
    ['an address besides', { nodes: [a, b, c], connect: 'redis://d' }, 'nodes', /one of/],
    ['a time for nodes, and none', { connect: a, nodeTimeout: 50 }, 'nodeTimeout', /with `nodes`/],
    [
      'a client with a prefix',
      { nodes: [a, b, new Redis({ ...lazy, keyPrefix: 'a:' })] },
      'nodes',
      /`prefix` to the lock client/,
    ],
  ])('%s', async (_, options, option, says) => {
    const refusal = await createRedLockClient('bad', options).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(LockOptionsError);
    expect(refusal).toMatchObject({ option, client: 'bad' });
    expect(String(refusal)).toMatch(says);
    expect(String(refusal)).not.toContain('secret');
  });

  it.each([0, 0.5, -1, NaN, Infinity, '5', null, 10_001])('a nodeTimeout of %p', async (value) => {
    const options = { nodes: [a, b, c], nodeTimeout: value as number };
    await expect(createRedLockClient('bad', options)).rejects.toMatchObject({
      code: 'LOCK_OPTIONS',
      option: 'nodeTimeout',
      value,
    });
  });
});

describe('A client of running servers', () => {
  let servers: IndependentRedisServers;

  beforeAll(async () => {
    servers = await IndependentRedisServers.start(4);
  });
  afterAll(() => servers.stop());

  it('warns of an even number', async () => {
    const warned = jest.spyOn(process, 'emitWarning').mockReturnValue();
    const client = await createRedLockClient('even', { nodes: servers.nodes });
    expect(warned.mock.calls).toEqual([[expect.stringMatching(/"even" has 4 .* odd number/)]]);
    warned.mockClear();
    const odd = await createRedLockClient('odd', { nodes: servers.nodes.slice(1) });
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
    await Promise.all([client.close(), odd.close()]);
  });

  it('rejects a server that is given under two names when it connects', async () => {
    const warned = jest.spyOn(process, 'emitWarning').mockReturnValue();
    const [first, , third] = servers.all;
    const nodes = [first!.url, third!.url, `redis://localhost:${first!.port}`];
    const client = await createRedLockClient('alias', { nodes });
    await expect(client.connect()).rejects.toMatchObject({ code: 'LOCK_OPTIONS', option: 'nodes' });
    expect(warned).toHaveBeenCalledWith(expect.stringContaining('the same Redis server twice'));
    warned.mockRestore();
    await client.close();
  });

  it('has mutexes, and rejects a request for any other kind', async () => {
    const client = await createRedLockClient('mutexes', { nodes: servers.nodes.slice(1) });
    await client.connect();
    for (const recipe of ['readWriteLock', 'semaphore'] as const)
      expect(() => client[recipe]('key')).toThrow(/on independent servers there are mutexes only/);
    expect(() => client.mutex('')).toThrow(expect.objectContaining({ code: 'LOCK_KEY' }));
    client.mutex('one kind');
    expect(() => client.semaphoreMutex('one kind')).toThrow(/uses one kind for a mutex/);
    await client.close();
  });

  it.each([99, 899, 100.5, NaN, Infinity, '5000'])('rejects a lease of %p', async (lease) => {
    const client = await createRedLockClient('leases', { nodes: servers.nodes.slice(1) });
    const options = { lease: lease as number };
    const refusal = { code: 'LOCK_OPTIONS', option: 'lease', value: lease, key: 'key' };
    await expect(client.mutex('key').acquire(options)).rejects.toMatchObject(refusal);
    await expect(client.mutex('key').tryAcquire(options)).rejects.toMatchObject(refusal);
    await client.close();
  });
});
