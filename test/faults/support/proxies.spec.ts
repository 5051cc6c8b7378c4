import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { once } from 'node:events';
import { connect as openSocket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import ZooKeeper from 'zookeeper';
import { eventually, isSettled } from '../../support/time.js';
import { FaultProxy, OpCode } from '../../support/zookeeper-proxy.js';
import { useZooKeeper } from '../../support/fixtures.js';
import { useRedisStage } from './redis-stage.js';

describe('FaultProxy', () => {
  const EPHEMERAL = 1;
  const server = useZooKeeper();
  let proxy: FaultProxy;
  let client: ZooKeeper;

  beforeEach(async () => {
    proxy = await FaultProxy.start(server());
    client = new ZooKeeper({
      connect: proxy.connectString,
      timeout: 10_000,
      debug_level: 0,
      host_order_deterministic: true,
      response_counter_limit: 0x7fffffff,
    });
    const connected = once(client, 'connect');
    client.init({});
    await connected;
  });
  afterEach(() => {
    proxy.stop(); // first: the driver blocks in close() until it is answered, and the proxy lives on this event loop
    client.close();
  });

  async function connectTo(port: number): Promise<void> {
    const socket = openSocket(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.destroy();
  }

  async function serverHas(path: string): Promise<boolean> {
    // A socket that is opened in the tick of a driver error never gets an event.
    await nextTurn();
    const sessions = await server().fourLetterWord('dump');
    expect(sessions).toContain('Sessions with Ephemerals');
    return sessions.includes(`\t${path}\n`);
  }

  it('cuts after a request: the server has carried it out, the client gets no reply', async () => {
    const cut = proxy.cutAfter(({ opcode, path }) => opcode === OpCode.create && path === '/after');

    await expect(client.create('/before-it', '', EPHEMERAL)).resolves.toBe('/before-it');
    await expect(client.create('/after', '', EPHEMERAL)).rejects.toThrow('connection loss');

    expect(await cut).toMatchObject({ opcode: OpCode.create, path: '/after' });
    expect(await serverHas('/after')).toBe(true);
  });

  it('cuts before a request: the server never sees it', async () => {
    const cut = proxy.cutBefore(({ opcode }) => opcode === OpCode.create);

    await expect(client.create('/never', '', EPHEMERAL)).rejects.toThrow('connection loss');

    expect(await cut).toMatchObject({ path: '/never' });
    expect(await serverHas('/never')).toBe(false);
  });

  it('keeps replies back and delivers them when released', async () => {
    let settled = false;
    proxy.holdReplies();
    const created = client.create('/held', '', EPHEMERAL).then(() => (settled = true));

    await eventually('the server has created the node', () => serverHas('/held'));
    expect(settled).toBe(false);

    proxy.release();
    await created;
  });

  it('keeps requests back and delivers them when released', async () => {
    proxy.hold();
    const created = client.create('/late', '', EPHEMERAL);
    await eventually('the request is at the proxy', () => proxy.requestCount(OpCode.create) === 1);
    expect(await serverHas('/late')).toBe(false);

    proxy.release();
    await expect(created).resolves.toBe('/late');
  });

  it('delivers replies in small pieces', async () => {
    const data = Buffer.alloc(10_000, 'x');
    await client.create('/big', data, EPHEMERAL);
    proxy.slowReplies(500, 1);
    expect((await client.get('/big', false))[1]).toEqual(data);
  });

  it('counts connections and requests by type', async () => {
    expect(proxy.requestCount(OpCode.createSession)).toBe(1);
    await client.create('/counted', '', EPHEMERAL);
    await client.exists('/counted', false);
    await client.exists('/counted', false);
    expect(proxy.requestCount(OpCode.create)).toBe(1);
    expect(proxy.requestCount(OpCode.create, OpCode.exists)).toBe(3);
    expect([proxy.accepted, proxy.open]).toEqual([1, 1]);
  });

  it('refuses connections and takes them again', async () => {
    proxy.refuse();
    await expect(connectTo(proxy.port)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await proxy.accept();
    await expect(connectTo(proxy.port)).resolves.toBeUndefined();
  });

  it.each(['cut', 'reset'] as const)('ends connections by %s', async (fault) => {
    const lost = once(client, 'connecting');
    proxy[fault]();
    await lost;
    await eventually('the client is back', () => proxy.accepted === 2);
  });
});

describe.each([2, 3] as const)('RedisProxy, RESP%d,', (protocol) => {
  const stage = useRedisStage();
  const isCommand = (name: string) => (command: readonly string[]) => command[0] === name;

  const connect = (options = {}): Redis => {
    const { port } = stage.proxy;
    return stage.client({ port, protocol, retryStrategy: () => 1, ...options });
  };

  it('loses the reply of a command that was carried out, and cuts the connection', async () => {
    const client = connect({ retryStrategy: null });
    await client.set('count', 5);
    const loss = stage.proxy.loseReply(isCommand('incr'));

    await expect(client.incr('count')).rejects.toThrow('Connection is closed');

    expect(await stage.server.command('GET', 'count')).toBe('6');
    expect(loss.lost).toBe(1);
  });

  it('delivers what was asked before, and keeps from the server what was asked after', async () => {
    const client = connect({ retryStrategy: null });
    await client.ping();
    stage.proxy.loseReply(isCommand('incr'));

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
    expect(await stage.server.command('MGET', 'count', 'after')).toEqual(['1', null]);
  });

  it('loses as many replies as it is asked to', async () => {
    const client = connect(); // which sends a command again when it is not answered
    const loss = stage.proxy.loseReply((command) => command[0] === 'incr' && loss.lost < 3);
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
    await stage.server.command('PUBLISH', 'b', 'one');
    const loss = stage.proxy.loseReply(
      (command) => command[0] === 'subscribe' && command[1] === 'd',
    );
    await stage.server.command('PUBLISH', 'c', 'two');
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
    stage.proxy.hold();
    const pushed = Promise.all([client.rpush('list', 'a'), client.rpush('list', 'b')]);
    await eventually(
      'both are here',
      () => stage.proxy.commands.filter(isCommand('rpush')).length === 2,
    );
    expect(await stage.server.command('EXISTS', 'list')).toBe(0);
    expect(await isSettled(pushed)).toBe(false);

    stage.proxy.resume();
    expect(await pushed).toEqual([1, 2]);
    expect(stage.proxy.open).toBe(1);
  });

  it('holds replies to what the server has carried out', async () => {
    const client = connect();
    await client.ping();
    stage.proxy.holdReplies();
    const counted = client.incr('count');
    await eventually('it was carried out', () => stage.server.command('GET', 'count'));
    expect(await isSettled(counted)).toBe(false);

    stage.proxy.resume();
    expect(await counted).toBe(1);
  });

  it('cuts the connection of the subscriber alone', async () => {
    const [client, subscriber] = [connect(), connect()];
    await Promise.all([client.ping(), subscriber.subscribe('channel')]);
    let wasCut = false;
    client.once('close', () => (wasCut = true));

    const cut = once(subscriber, 'close');
    stage.proxy.cut(isCommand('subscribe'));
    await cut;
    await client.ping();

    expect(wasCut).toBe(false);
  });

  it('cuts all connections, and takes new ones', async () => {
    const clients = [connect(), connect()];
    await Promise.all(clients.map((client) => client.ping()));
    const closed = Promise.all(clients.map((client) => once(client, 'close')));
    stage.proxy.cut();
    await closed;
    expect(await Promise.all(clients.map((client) => client.ping()))).toEqual(['PONG', 'PONG']);
  });

  describe('delivers late copies that', () => {
    it('are held up, and arrive after what the client has sent again', async () => {
      const client = connect();
      await client.set('count', 5);
      const copy = stage.proxy.strand(isCommand('incr'));
      const counted = Promise.all([client.incr('count'), client.set('behind', 1)]);
      await eventually('both are held up', () => copy.count === 2);
      expect(await stage.server.command('GET', 'count')).toBe('5');
      expect(await isSettled(counted)).toBe(false);

      copy.giveUp();
      expect(await counted).toEqual([6, 'OK']);
      expect(copy.commands).toEqual([
        ['incr', 'count'],
        ['set', 'behind', '1'],
      ]);
      expect(await copy.deliver()).toEqual(['7', 'OK']);
      expect(await stage.server.command('GET', 'count')).toBe('7');
    });

    it('arrive although the client does not send them again', async () => {
      const client = connect({ retryStrategy: null });
      await client.ping();
      const copy = stage.proxy.strand(isCommand('incr'));
      const failed = expect(client.incr('count')).rejects.toThrow('Connection is closed');
      await eventually('it is held up', () => copy.count);
      expect(await copy.deliver()).toEqual(['1']);
      await failed;
    });

    it('are of the first command that is meant alone', async () => {
      const client = connect();
      await client.ping();
      const copy = stage.proxy.strand(isCommand('incr'));
      const [first, second] = [client.incr('count'), connect().incr('other')];
      await eventually('one is held up', () => copy.count);
      expect(await Promise.race([first, second])).toBe(1);
      copy.giveUp();
      expect(await Promise.all([first, second])).toEqual([1, 1]);
    });

    it('repeat a command that was answered, and nothing else', async () => {
      const client = connect();
      const copy = stage.proxy.replay(isCommand('incr'));
      expect(await client.incr('count')).toBe(1);
      expect(await client.incr('count')).toBe(2);
      copy.giveUp();
      expect(await client.incr('count')).toBe(3);
      expect(await copy.deliver()).toEqual(['4']);
    });

    it('repeat a command after its reply was lost', async () => {
      const client = connect();
      const copy = stage.proxy.replay(isCommand('incr'));
      const loss = stage.proxy.loseReply((command) => command[0] === 'incr' && loss.lost === 0);
      expect(await client.incr('count')).toBe(2);
      expect(await copy.deliver()).toEqual(['3']);
    });

    it('end their connection when they have arrived', async () => {
      const client = connect();
      const copy = stage.proxy.replay(isCommand('incr'));
      await client.incr('count');
      await copy.deliver();
      await client.ping();
      await eventually('the client has another one', () => stage.proxy.open === 1);
    });

    it('do not arrive at a server that has ended their connection', async () => {
      const client = connect();
      await client.ping();
      const copy = stage.proxy.strand(isCommand('incr'));
      client.incr('count').catch(() => {});
      await eventually('it is held up', () => copy.count);
      copy.giveUp();
      await stage.server.command('CLIENT', 'KILL', 'TYPE', 'normal');
      await expect(copy.deliver()).rejects.toThrow('server');
    });

    it('are of a command that has to be sent first', () => {
      expect(() => stage.proxy.strand(isCommand('incr')).giveUp()).toThrow('No command');
    });
  });
});
