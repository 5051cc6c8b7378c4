import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { LockConnectionError } from '../../lib/core/errors/index.js';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import type { RedisLockOptions } from '../../lib/redis/redis-options.js';
import { noMoreHandlesThan, openHandles } from '../e2e/support/open-handles.js';
import { eventually } from '../support/eventually.js';
import { freePorts } from '../support/free-ports.js';
import { RedisServer } from '../support/redis-server.js';

const HOST = '127.0.0.1';
const PASSWORD = 'sesame';

/** Otherwise a client that is disconnected without a connection keeps the process alive for two seconds. */
const AT_ONCE = { disconnectTimeout: 0 };

let server: RedisServer;
let emptyPort: number;
const open = new Set<RedisLockClient>();

beforeAll(async () => {
  server = await RedisServer.start();
  [emptyPort] = (await freePorts(1, HOST)) as [number];
});
afterEach(async () => {
  jest.restoreAllMocks();
  await Promise.all([...open].map((client) => client.close()));
  open.clear();
});
afterAll(() => server.stop());

async function made(options: RedisLockOptions): Promise<RedisLockClient> {
  const client = await createRedisLockClient('far', options);
  open.add(client);
  return client;
}

/** Creates a user of the server with all permissions except those, in the language of ACL rules. */
async function userWho(name: string, ...rules: string[]): Promise<RedisLockOptions> {
  const everything = ['reset', 'on', `>${PASSWORD}`, '~*', '&*', '+@all'];
  await server.command('acl', 'setuser', name, ...everything, ...rules);
  return {
    connect: { host: HOST, port: server.port, username: name, password: PASSWORD, ...AT_ONCE },
    watchdogTimeout: 20_000,
  };
}

describe('A lock client that finds no Redis', () => {
  it.each<[string, (port: number) => RedisLockOptions, reason: RegExp]>([
    ['at its URL', (port) => ({ connect: `redis://${HOST}:${port}` }), /ECONNREFUSED/],
    ['at its address', (port) => ({ connect: { host: HOST, port } }), /ECONNREFUSED/],
    ['at any node', (port) => ({ cluster: { nodes: [{ host: HOST, port }] } }), /slots cache/],
  ])('%s reports the reason at every attempt, and in the end', async (_, options, reason) => {
    const before = openHandles();
    const client = await made({ ...options(emptyPort), connectTimeout: 500 });
    const reasons: string[] = [];
    client.on('connection', (event) => void reasons.push(event.reason));

    const error = await client.connect().catch((error: unknown) => error);
    expect(error).toBeInstanceOf(LockConnectionError);
    expect(error).toMatchObject({ client: 'far' });
    expect(String(error)).toMatch(/could not connect to Redis within 500 ms \(.+\)\. Check/);
    expect(String(error)).toMatch(reason);
    expect(reasons.length).toBeGreaterThan(1);
    for (const told of reasons) expect(told).toMatch(reason);

    await client.close();
    await noMoreHandlesThan(before);
  });

  it('behind a client of a user does not close that client', async () => {
    const user = server.client({ port: emptyPort });
    const client = await made({ client: user, connectTimeout: 200 });
    await expect(client.connect()).rejects.toBeInstanceOf(LockConnectionError);
    await client.close();
    await eventually('it tries on', () => user.status === 'reconnecting');
  });

  it('connects to one that starts in time', async () => {
    const late = new RedisServer(emptyPort);
    try {
      const client = await made({ connect: { host: HOST, port: emptyPort, ...AT_ONCE } });
      const connecting = client.connect();
      await late.restart();
      await connecting;
      await (await client.mutex('key').acquire()).release();
      await client.close();
    } finally {
      await late.stop();
    }
  });
});

describe('A lock client with a server user that', () => {
  it('has another password reports it', async () => {
    const { connect } = await userWho('forgetful');
    const forgetful = { ...(connect as object), password: 'guess' };
    const client = await made({ connect: forgetful, connectTimeout: 300 });
    const error = await client.connect().catch((error: unknown) => error);
    expect(error).toBeInstanceOf(LockConnectionError);
    expect(String(error)).toContain('WRONGPASS');
    expect(String(error)).not.toContain('guess');
  });

  it.each([
    ['scripts', ['-evalsha', '-eval'], "'evalsha'"],
    ['such keys', ['resetkeys', '~other:*'], 'one of the keys'],
    ['writing', ['-@write'], "can't run this command"],
  ])('may not use %s rejects at the first lock', async (what, rules, part) => {
    const client = await made(await userWho('guest', ...rules));
    jest.spyOn(process, 'emitWarning').mockReturnValue(); // the release of the lock is refused too
    await client.connect();
    const key = `no ${what}`;
    const error = await client
      .mutex(key)
      .acquire()
      .catch((error: unknown) => error);
    expect(error).toBeInstanceOf(LockConnectionError);
    expect(error).toMatchObject({ key, client: 'far' });
    expect(String(error)).toContain(part);
    expect(String(error)).toContain('Check the permissions of the user');
    await client.close();
  });

  it.each([
    ['by its commands', ['-subscribe']],
    ['by its channels', ['resetchannels']],
  ])('may not listen %s checks the lock by itself, twice a second', async (how, rules) => {
    const client = await made(await userWho('deaf', ...rules));
    const other = await made({ connect: server.url });
    await Promise.all([client.connect(), other.connect()]);
    const key = `deaf ${how}`;
    const lease = await other.mutex(key).acquire();
    const contended = new Promise<void>((resolve) => void client.on('contended', () => resolve()));
    const waiting = client.mutex(key).acquire({ wait: 10_000, lease: 10_000 });
    await contended;
    await lease.release();
    const granted = await waiting; // without a check it would sleep for 30 s
    expect(granted.isHeld).toBe(true);
    expect(await other.mutex(key).tryAcquire()).toBeUndefined();
  });

  it('may not publish is warned of it once, and leaves nothing locked forever', async () => {
    const client = await made(await userWho('mute', 'resetchannels'));
    await client.connect();
    const warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
    for (let i = 0; i < 3; i++) await (await client.mutex('mute').acquire()).release();
    expect(warn).toHaveBeenCalledTimes(1);
    expect(String(warn.mock.calls[0]![0])).toMatch(/"far" to release a lock.*channels/);
    expect(await client.mutex('mute').isLocked()).toBe(false);
  });
});
