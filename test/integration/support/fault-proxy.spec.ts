import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import ZooKeeper from 'zookeeper';
import { eventually } from '../../support/eventually.js';
import { FaultProxy } from '../../support/fault-proxy.js';
import { OpCode } from '../../support/op-code.js';
import { ZooKeeperServer } from '../../support/zookeeper-server.js';

const EPHEMERAL = 1;

describe('FaultProxy', () => {
  let server: ZooKeeperServer;
  let proxy: FaultProxy;
  let client: ZooKeeper;

  beforeAll(async () => {
    server = await ZooKeeperServer.start();
  });
  afterAll(() => server.stop());

  beforeEach(async () => {
    proxy = await FaultProxy.start(server);
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

  async function serverHas(path: string): Promise<boolean> {
    // A socket that is opened in the tick of a driver error never gets an event.
    await nextTurn();
    const sessions = await server.fourLetterWord('dump');
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

async function connectTo(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.destroy();
}
