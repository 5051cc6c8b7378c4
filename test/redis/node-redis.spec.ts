import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { createClient, createCluster, createSentinel } from 'redis';
import { createClient as createClient5 } from 'redis5';
import { LockClientClosedError, LockOptionsError } from '../../lib/core/errors/index.js';
import { LockEventEmitter } from '../../lib/core/internal/lock-event-emitter.js';
import { type NodeRedisClient, serverOf } from '../../lib/redis/node-redis/node-redis.js';
import { NodeRedisNode } from '../../lib/redis/node-redis/node-redis-node.js';
import { makeConnection } from '../../lib/redis/make-connection.js';
import { createRedLockClient } from '../../lib/redis/red-lock/create-red-lock-client.js';
import type { RedisLockOptions } from '../../lib/redis/redis-options.js';
import { redisScript } from '../../lib/redis/redis-write.js';
import { noMoreHandlesThan, openHandles } from '../e2e/support/open-handles.js';
import { useCleanup, useRedis } from '../support/fixtures.js';
import { RedisProxy } from '../support/redis-proxy.js';
import { IndependentRedisServers, KEPT } from '../support/redis-server.js';
import { eventually } from '../support/time.js';
import { contended, useClients, useProxy } from './support/clients.js';
import { RECIPES } from './support/redis-stage.js';

const server = useRedis();
const proxy = useProxy(server);
const { connected, made } = useClients('node-redis');
const cleanup = useCleanup();

const MAKE: Record<string, (options: object) => NodeRedisClient> = {
  'node-redis 6': (options) => createClient(options),
  'node-redis 5': (options) => createClient5(options),
};

const SETTINGS: Record<string, object> = {
  'default settings': {},
  RESP2: { RESP: 2 },
  RESP3: { RESP: 3 },
  'a cache': { RESP: 3, clientSideCache: { ttl: 0, maxEntries: 10, evictPolicy: 'LRU' } },
  'no offline queue': { disableOfflineQueue: true },
  'a queue of one command': { commandsQueueMaxLength: 1 },
  'a time-out of commands': { commandOptions: { timeout: 1 } },
  'pings of its own': { pingInterval: 50 },
  'another database': { database: 5 },
};

/** A server by its URL. */
const A = { url: 'redis://a:6379' };

/** All names on the server of locks that are not free. */
async function left(): Promise<string[]> {
  const keys = (await server().command('KEYS', '*')) as string[];
  return keys.filter((key) => !KEPT.test(key));
}

describe.each(Object.entries(MAKE))('A client of %s', (_, make) => {
  afterEach(async () => {
    await server().command('FLUSHALL');
  });

  const userOf = (options: object = {}) => make({ url: server().url, ...options });
  const farOf = (options: object = {}) =>
    make({ socket: { host: proxy().host, port: proxy().port }, ...options });

  it.each(Object.entries(SETTINGS))(
    'with %s provides exclusion by locks of all kinds, and is woken',
    async (__, options) => {
      const client = userOf(options);
      const [mine, theirs] = [await connected({ client }), await connected({ client })];
      for (const [recipe, lock] of Object.entries(RECIPES)) {
        const lease = await lock(theirs, recipe).acquire();
        const rival = recipe === 'read lock' ? RECIPES['write lock']! : lock;
        expect(await rival(mine, recipe).tryAcquire()).toBeUndefined();
        const waiting = rival(mine, recipe).acquire({ wait: 10_000 });
        expect(await lease.fencingToken()).toBe(1n);
        await lease.release();
        const next = await waiting;
        expect(await next.fencingToken()).toBe(2n);
        await next.release();
      }
      const database = 'database' in options ? 5 : 0;
      await using __lease = await mine.mutex('where').acquire();
      const script = `redis.call('select', ${database}) return redis.call('exists', 'where')`;
      expect(await server().command('EVAL', script, 0)).toBe(1);
    },
  );

  it('is neither connected, nor used, nor closed', async () => {
    const client = userOf();
    const locks = await connected({ client });
    await (await locks.mutex('key').acquire()).release();
    expect(client.isOpen).toBe(false);
    await client.connect();
    const others = await connected({ client });
    await (await others.mutex('key').acquire()).release();
    await others.close();
    expect(await client.sendCommand(['PING'])).toBe('PONG');
    client.destroy();
    await (await locks.mutex('key').acquire()).release();
  });

  it('leaves nothing open', async () => {
    const before = openHandles();
    const client = await connected({ client: userOf() });
    const lease = await client.mutex('key').acquire();
    const waits = contended(client);
    const waiting = expect(client.mutex('key').acquire()).rejects.toBeDefined();
    await waits;
    await Promise.all([client.close(), waiting]);
    expect(lease.isHeld).toBe(false);
    expect(await left()).toEqual([]);
    await noMoreHandlesThan(before);
  });

  it('leaves nothing open where it never got a connection', async () => {
    const before = openHandles();
    const away = await RedisProxy.start(server());
    const { host, port } = away;
    await away.stop();
    const client = make({ socket: { host, port } });
    await expect(connected({ client, connectTimeout: 300 })).rejects.toThrow('ECONNREFUSED');
    await noMoreHandlesThan(before);
  });

  it('sends what was not answered again, and takes it once', async () => {
    const locks = await connected({ client: farOf() });
    const direct = await connected({ client: userOf() });
    for (const [name, lock] of Object.entries(RECIPES)) {
      await (await lock(direct, name).acquire()).release(); // the server knows the scripts
      const loss = proxy().loseReply(
        (command) => /^eval/i.test(command[0]!) && command.includes(name) && loss.lost === 0,
      );
      const lease = await lock(locks, name).acquire();
      loss.stop();
      expect([name, loss.lost]).toEqual([name, 1]);
      await lease.release();
    }
    await eventually('all are free', async () => (await left()).length === 0);
  });

  it.each(['SOLD out', 'sold out', 'NotFound: no such order', 'Connection timeout'])(
    'keeps its connection when a guarded script answers with the error %j',
    async (text) => {
      const locks = await connected({ client: userOf() });
      const states: string[] = [];
      locks.on('connection', ({ state }) => states.push(state));
      await using lease = await locks.mutex('order').acquire();
      const script = `redis.call('incr', KEYS[1]) return redis.error_reply('${text}')`;
      const error = await lease.guard(redisScript(script, ['sold'])).catch((it: unknown) => it);
      expect(error).toMatchObject({ name: 'ReplyError', message: text });
      expect(states).toEqual([]);
      expect(await server().command('GET', 'sold')).toBe('1');
    },
  );

  it('makes a connection anew that is silent while an answer is awaited, and no other', async () => {
    const locks = await connected({ client: farOf(), watchdogTimeout: 60_000 });
    const states: string[] = [];
    locks.on('connection', ({ state }) => states.push(state));
    const own = new NodeRedisNode(serverOf(farOf()), 300);
    cleanup(own, () => own.disconnect());
    const closed: string[] = [];
    own.on('close', () => closed.push('close'));
    expect(await own.call('ping')).toBe('PONG');
    const since = performance.now();
    await eventually('it was idle for long', () => performance.now() - since > 700);
    expect(closed).toEqual([]);
    proxy().hold();
    const pong = own.call('ping');
    await eventually('it is given up', () => closed.length > 0);
    proxy().resume();
    expect(await pong).toBe('PONG');
    expect(states).toEqual([]);
  });

  it('gives up a server that takes the connection, but does not answer', async () => {
    proxy().hold();
    const own = new NodeRedisNode(serverOf(farOf()), 300);
    cleanup(own, () => own.disconnect());
    const closed: string[] = [];
    own.on('close', () => closed.push('close'));
    const pong = own.call('ping');
    await eventually('it is given up', () => closed.length > 0);
    proxy().resume();
    expect(await pong).toBe('PONG');
  });

  it('takes messages while it sends pings of its own', async () => {
    const own = new NodeRedisNode(serverOf(userOf({ pingInterval: 20 })), 5_000);
    cleanup(own, () => own.disconnect());
    const heard: unknown[] = [];
    own.on('message', (channel) => heard.push(channel));
    own.on('close', () => heard.push('closed'));
    await own.call('ping');
    await own.call('subscribe', 'slow news');
    await server().command('CONFIG', 'RESETSTAT');
    await eventually('it has sent some', async () =>
      /cmdstat_ping:calls=([3-9]|\d\d)/.test(
        String(await server().command('INFO', 'commandstats')),
      ),
    );
    await server().command('PUBLISH', 'slow news', '0');
    await eventually('it is heard', () => heard.length > 0);
    expect(heard).toEqual(['slow news']);
  });

  it('hears messages after it has left and joined their channel at once', async () => {
    const own = new NodeRedisNode(serverOf(userOf()), 5_000);
    cleanup(own, () => own.disconnect());
    const heard: unknown[] = [];
    own.on('message', (channel) => heard.push(channel));
    await own.call('ping');
    await own.call('subscribe', 'news');
    const changes = ['unsubscribe', 'subscribe', 'unsubscribe', 'unsubscribe', 'subscribe'];
    await Promise.all(changes.map((change) => own.call(change, 'news')));
    expect(await server().command('PUBLISH', 'news', '0')).toBe(1);
    await eventually('it is heard', () => heard.length > 0);
    expect(heard).toEqual(['news']);
    await own.call('unsubscribe', 'news');
    expect(await server().command('PUBLISH', 'news', '0')).toBe(0);
  });

  it('logs in with its current password when the connection breaks', async () => {
    const set = (...rules: string[]) => server().command('ACL', 'SETUSER', 'cloud', ...rules);
    await set('reset', 'on', '>sesame', '~*', '&*', '+@all');
    let password = 'sesame';
    const credentials = async () => ({ username: 'cloud', password });
    const credentialsProvider = { type: 'async-credentials-provider', credentials };
    const client = await connected({ client: userOf({ credentialsProvider }) });
    await (await client.mutex('before').acquire()).release();
    await set('resetpass', '>another');
    password = 'another';
    await server().command('CLIENT', 'KILL', 'USER', 'cloud');
    await (await client.mutex('after').acquire({ wait: 20_000 })).release();
  });

  it('that is refused is told why, without its password', async () => {
    const client = userOf({ username: 'cloud', password: 'not the secret' });
    const refusal = await connected({ client, connectTimeout: 500 }).catch(String);
    expect(refusal).toMatch(/WRONGPASS.*Check the user and the password/s);
    expect(refusal).not.toContain('not the secret');
  });

  it('may be one of the servers of a RedLock', async () => {
    const servers = await IndependentRedisServers.start(3);
    try {
      const nodes = servers.all.map(({ url }) => make({ url }));
      const client = await createRedLockClient('red', { nodes });
      await client.connect();
      await eventually('all of them have granted it', async () => {
        await using _lease = await client.mutex('red').acquire(); // by two of them, if the third connects later
        return (await servers.having('red')) === 3;
      });
      const twice = createRedLockClient('red', {
        nodes: [nodes[0]!, ...nodes.slice(1), nodes[0]!],
      });
      await expect(twice).rejects.toThrow('each of them once');
      await client.close();
    } finally {
      await servers.stop();
    }
  });

  it('cannot have a prefix of its own', async () => {
    const refused = connected({ client: userOf({ keyPrefix: 'a:' }) });
    await expect(refused).rejects.toThrow(/keyPrefix.*`prefix`/s);
  });
});

describe('The driver node-redis', () => {
  it.each<[string, () => RedisLockOptions['connect']]>([
    ['a URL', () => server().url],
    ['its options', () => ({ socket: { host: server().host, port: server().port } })],
    ['its options with a URL', () => ({ url: server().url })],
  ])('connects by %s', async (_, connect) => {
    const options = { connect: connect(), driver: 'node-redis' } as const;
    const connection = await makeConnection('made', options, new LockEventEmitter());
    expect(connection.settings.client).toBeInstanceOf(NodeRedisNode);
    expect(await connection.read('ping')).toBe('PONG');
    connection.close();
    const client = await connected(options);
    await using __ = await client.mutex('made').acquire();
    expect(await server().command('EXISTS', 'made')).toBe(1);
  });

  it('takes the servers of a RedLock by their URLs', async () => {
    const servers = await IndependentRedisServers.start(3);
    cleanup(servers, () => servers.stop());
    const nodes = servers.all.map(({ url }) => ({ url }));
    const client = await createRedLockClient('red', { nodes, driver: 'node-redis' });
    cleanup(client, () => client.close());
    await client.connect();
    await using _ = await client.mutex('red').acquire();
    expect(await servers.having('red')).toBeGreaterThanOrEqual(2);
  });

  it.each<[string, (nodes: { host: string; port: number }[]) => RedisLockOptions]>([
    ['node of a cluster', (nodes) => ({ cluster: { nodes } })],
    ['Sentinel', (nodes) => ({ connect: { name: 'master', sentinelRootNodes: nodes } })],
  ])('asks no other %s when it is closed while one is silent', async (_, optionsOf) => {
    let asked = 0;
    const silent = [1, 2, 3].map(() => createServer((socket) => (asked += 1) && socket.resume()));
    const nodes = silent.map(async (node) => {
      await once(node.listen(0, '127.0.0.1'), 'listening');
      cleanup(node, () => node.close());
      return { host: '127.0.0.1', port: (node.address() as AddressInfo).port };
    });
    const options = optionsOf(await Promise.all(nodes));
    const before = openHandles();
    const client = await made({ ...options, driver: 'node-redis' });
    const connecting = expect(client.connect()).rejects.toBeInstanceOf(LockClientClosedError);
    await eventually('one is asked', () => asked > 0);
    await Promise.all([client.close(), connecting]);
    const sofar = asked;
    await noMoreHandlesThan(before);
    expect(asked).toBe(sofar);
  });

  it.each<[string, object]>([
    ['another driver', { connect: 'redis://localhost', driver: 'redis' }],
    ['a driver beside a client', { client: createClient(), driver: 'node-redis' }],
    ['Sentinels of a client', { client: createSentinel({ name: 'a', sentinelRootNodes: [] }) }],
    ['an address of ioredis', { connect: { host: 'a' }, driver: 'node-redis' }],
    ['an address of its own', { connect: { socket: { host: 'a' } }, driver: 'ioredis' }],
    [
      'a password of ioredis',
      { cluster: { nodes: ['a:1'], options: { redisOptions: {} } }, driver: 'node-redis' },
    ],
    ['one server twice', { nodes: [A, { url: 'redis://b' }, A], driver: 'node-redis' }],
    [
      'one server in two forms',
      { nodes: [A, { url: 'redis://b' }, { socket: { host: 'a' } }], driver: 'node-redis' },
    ],
    ['one cluster of several servers', { nodes: [createCluster({ rootNodes: [] }), 'a', 'b'] }],
  ])('does not take %s', async (_, options) => {
    await expect(connected(options)).rejects.toBeInstanceOf(LockOptionsError);
  });
});
