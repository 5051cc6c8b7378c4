import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { eventually } from '../../support/eventually.js';
import { isSettled } from '../../support/is-settled.js';
import { RedisProxy } from '../../support/redis-proxy.js';
import { RedisServer } from '../../support/redis-server.js';

const isCommand = (name: string) => (command: readonly string[]) => command[0] === name;

describe.each([2, 3] as const)('Late copies by RedisProxy, RESP%d', (protocol) => {
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

  it('are held up, and arrive after what the client has sent again', async () => {
    const client = connect();
    await client.set('count', 5);
    const copy = proxy.strand(isCommand('incr'));
    const counted = Promise.all([client.incr('count'), client.set('behind', 1)]);
    await eventually('both are held up', () => copy.count === 2);
    expect(await server.command('GET', 'count')).toBe('5');
    expect(await isSettled(counted)).toBe(false);

    copy.giveUp();
    expect(await counted).toEqual([6, 'OK']);
    expect(copy.commands).toEqual([
      ['incr', 'count'],
      ['set', 'behind', '1'],
    ]);
    expect(await copy.deliver()).toEqual(['7', 'OK']);
    expect(await server.command('GET', 'count')).toBe('7');
  });

  it('arrive although the client does not send them again', async () => {
    const client = connect({ retryStrategy: null });
    await client.ping();
    const copy = proxy.strand(isCommand('incr'));
    const failed = expect(client.incr('count')).rejects.toThrow('Connection is closed');
    await eventually('it is held up', () => copy.count);
    expect(await copy.deliver()).toEqual(['1']);
    await failed;
  });

  it('are of the first command that is meant alone', async () => {
    const client = connect();
    await client.ping();
    const copy = proxy.strand(isCommand('incr'));
    const [first, second] = [client.incr('count'), connect().incr('other')];
    await eventually('one is held up', () => copy.count);
    expect(await Promise.race([first, second])).toBe(1);
    copy.giveUp();
    expect(await Promise.all([first, second])).toEqual([1, 1]);
  });

  it('repeat a command that was answered, and nothing else', async () => {
    const client = connect();
    const copy = proxy.replay(isCommand('incr'));
    expect(await client.incr('count')).toBe(1);
    expect(await client.incr('count')).toBe(2);
    copy.giveUp();
    expect(await client.incr('count')).toBe(3);
    expect(await copy.deliver()).toEqual(['4']);
  });

  it('repeat a command after its reply was lost', async () => {
    const client = connect();
    const copy = proxy.replay(isCommand('incr'));
    const loss = proxy.loseReply((command) => command[0] === 'incr' && loss.lost === 0);
    expect(await client.incr('count')).toBe(2);
    expect(await copy.deliver()).toEqual(['3']);
  });

  it('end their connection when they have arrived', async () => {
    const client = connect();
    const copy = proxy.replay(isCommand('incr'));
    await client.incr('count');
    await copy.deliver();
    await client.ping();
    await eventually('the client has another one', () => proxy.open === 1);
  });

  it('do not arrive at a server that has ended their connection', async () => {
    const client = connect();
    await client.ping();
    const copy = proxy.strand(isCommand('incr'));
    client.incr('count').catch(() => {});
    await eventually('it is held up', () => copy.count);
    copy.giveUp();
    await server.command('CLIENT', 'KILL', 'TYPE', 'normal');
    await expect(copy.deliver()).rejects.toThrow('server');
  });

  it('are of a command that has to be sent first', () => {
    expect(() => proxy.strand(isCommand('incr')).giveUp()).toThrow('No command');
  });
});
