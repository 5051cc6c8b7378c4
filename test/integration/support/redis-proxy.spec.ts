import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { once } from 'node:events';
import { eventually } from '../../support/eventually.js';
import { isSettled } from '../../support/is-settled.js';
import { RedisProxy } from '../../support/redis-proxy.js';
import { RedisServer } from '../../support/redis-server.js';

const isCommand = (name: string) => (command: readonly string[]) => command[0] === name;

describe.each([2, 3] as const)('RedisProxy, RESP%d', (protocol) => {
  let server: RedisServer;
  let proxy: RedisProxy;

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());

  beforeEach(async () => {
    await server.command('FLUSHALL');
    proxy = await RedisProxy.start(server);
  });
  afterEach(() => proxy.stop());

  const connect = (options = {}): Redis =>
    server.client({ port: proxy.port, protocol, retryStrategy: () => 1, ...options });

  it('loses the reply of a command that was carried out, and cuts the connection', async () => {
    const client = connect({ retryStrategy: null });
    await client.set('count', 5);
    const loss = proxy.loseReply(isCommand('incr'));

    await expect(client.incr('count')).rejects.toThrow('Connection is closed');

    expect(await server.command('GET', 'count')).toBe('6');
    expect(loss.lost).toBe(1);
  });

  it('delivers what was asked before, and keeps from the server what was asked after', async () => {
    const client = connect({ retryStrategy: null });
    await client.ping();
    proxy.loseReply(isCommand('incr'));

    const [before, lost, after] = await Promise.allSettled([
      client.set('before', 1),
      client.incr('count'),
      client.set('after', 1),
    ]);

    expect([before, lost, after]).toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected' },
      { status: 'rejected' },
    ]);
    expect(await server.command('MGET', 'count', 'after')).toEqual(['1', null]);
  });

  it('loses as many replies as it is asked to', async () => {
    const client = connect(); // which sends a command again when it is not answered
    const loss = proxy.loseReply((command) => command[0] === 'incr' && loss.lost < 3);
    expect(await client.incr('count')).toBe(4);
    loss.stop();
    expect(await client.incr('count')).toBe(5);
    expect(loss.lost).toBe(3);
  });

  it('distinguishes replies from the messages of a subscription', async () => {
    const subscriber = connect();
    const messages: string[] = [];
    subscriber.on('message', (_channel: string, message: string) => messages.push(message));
    await subscriber.subscribe('a', 'b', 'c');
    await server.command('PUBLISH', 'b', 'one');
    const loss = proxy.loseReply((command) => command[0] === 'subscribe' && command[1] === 'd');
    await server.command('PUBLISH', 'c', 'two');
    await subscriber.unsubscribe('a');

    const cut = once(subscriber, 'close');
    subscriber.subscribe('d').catch(() => {});
    await cut;

    expect(messages).toEqual(['one', 'two']);
    expect(loss.lost).toBe(1);
  });

  it('passes on whatever the server answers', async () => {
    const client = connect();
    const big = 'ä'.repeat(300_000);
    await client.hset('hash', { big, small: '' });
    expect(await client.hgetall('hash')).toEqual({ big, small: '' });
    const script = "return {1, {'two', false}, redis.status_reply('ok')}";
    expect(await client.eval(script, 0)).toEqual([1, ['two', null], 'ok']);
    await expect(client.incr('hash')).rejects.toThrow('WRONGTYPE');
    expect(await client.blpop('nothing', 0.01)).toBeNull();
    expect(await client.multi().set('x', 1).get('x').exec()).toEqual([
      [null, 'OK'],
      [null, '1'],
    ]);
  });

  it('holds both directions, and delivers in order when it resumes', async () => {
    const client = connect();
    await client.ping();
    proxy.hold();
    const pushed = Promise.all([client.rpush('list', 'a'), client.rpush('list', 'b')]);
    await eventually('both are here', () => proxy.commands.filter(isCommand('rpush')).length === 2);
    expect(await server.command('EXISTS', 'list')).toBe(0);
    expect(await isSettled(pushed)).toBe(false);

    proxy.resume();
    expect(await pushed).toEqual([1, 2]);
    expect(proxy.open).toBe(1);
  });

  it('holds replies to what the server has carried out', async () => {
    const client = connect();
    await client.ping();
    proxy.holdReplies();
    const counted = client.incr('count');
    await eventually('it was carried out', () => server.command('GET', 'count'));
    expect(await isSettled(counted)).toBe(false);

    proxy.resume();
    expect(await counted).toBe(1);
  });

  it('cuts the connection of the subscriber alone', async () => {
    const [client, subscriber] = [connect(), connect()];
    await Promise.all([client.ping(), subscriber.subscribe('channel')]);
    let wasCut = false;
    client.once('close', () => (wasCut = true));

    const cut = once(subscriber, 'close');
    proxy.cut(isCommand('subscribe'));
    await cut;
    await client.ping();

    expect(wasCut).toBe(false);
  });

  it('cuts all connections, and takes new ones', async () => {
    const clients = [connect(), connect()];
    await Promise.all(clients.map((client) => client.ping()));
    const closed = Promise.all(clients.map((client) => once(client, 'close')));
    proxy.cut();
    await closed;
    expect(await Promise.all(clients.map((client) => client.ping()))).toEqual(['PONG', 'PONG']);
  });
});
