import { beforeEach, describe, expect, it } from '@jest/globals';
import { EmbeddedServer } from '../../../lib/embedded/embedded-server.js';
import { embeddedServers, EmbeddedTransport } from '../../../lib/embedded/embedded-transport.js';
import { SessionConnection } from '../../../lib/zookeeper/connection/session-connection.js';
import { CreateMode } from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { FaultyTransport } from '../../support/transports.js';
import { seededRandom } from '../../support/seeded-random.js';
import { VirtualClock } from '../../support/time.js';
import { EmbeddedClient } from './embedded-client.js';

const TICK = 500;

describe('sessions of the embedded tree', () => {
  let clock: VirtualClock;
  let server: EmbeddedServer;
  let client: EmbeddedClient;
  let onlooker: EmbeddedClient;

  const nodes = () => onlooker.getChildren('/');

  beforeEach(() => {
    clock = new VirtualClock();
    server = new EmbeddedServer({ clock, tickTime: TICK, containerInterval: 60_000 });
    client = new EmbeddedClient(server, { sessionTimeout: 2_000 });
    onlooker = new EmbeddedClient(server, { sessionTimeout: 10_000 });
    client.create('/own', CreateMode.EPHEMERAL);
    client.create('/stays');
  });

  it.each([
    [1, 2 * TICK],
    [3_210, 3_210],
    [1_000_000, 20 * TICK],
  ])('asked for a timeout of %d ms give %d', (asked, granted) => {
    const { credentials } = new EmbeddedClient(server, { sessionTimeout: asked });
    expect(credentials!.timeout).toBe(granted);
  });

  it('expire on the tick after their timeout, with all that lived with them', async () => {
    await clock.advance(2_000 + TICK - 1);
    expect(nodes()).toEqual(['own', 'stays']);
    await clock.advance(1);
    expect(nodes()).toEqual(['stays']);
    expect(client.heard).toEqual([expect.stringContaining('disconnected')]);
  });

  it('live as long as they are heard of', async () => {
    for (let beat = 0; beat < 10; beat++) {
      await clock.advance(1_900);
      client.exists('/');
      onlooker.exists('/');
    }
    expect(nodes()).toEqual(['own', 'stays']);
    await clock.advance(2_000 + TICK);
    expect(nodes()).toEqual(['stays']);
  });

  it('live on for their timeout when the link has gone', async () => {
    await clock.advance(1_000);
    client.exists('/');
    server.disconnect(client.caller!);
    await clock.advance(2_000);
    expect(nodes()).toEqual(['own', 'stays']);
    await clock.advance(TICK);
    expect(nodes()).toEqual(['stays']);
  });

  it('go on over another link, and hang the older one up', async () => {
    await clock.advance(1_900);
    const { credentials } = client;
    const successor = new EmbeddedClient(server, { credentials, sessionTimeout: 2_000 });
    expect(successor.credentials).toEqual(credentials);
    expect(client.heard).toEqual([expect.stringContaining('moved')]);
    expect(client.send({ op: 'exists', path: '/', watch: false })).toBeUndefined();
    await clock.advance(1_900);
    expect(nodes()).toEqual(['own', 'stays']);
    server.disconnect(client.caller!); // the older link notices: that does not concern the session any more
    expect(successor.exists('/own')).toMatchObject({ ephemeralOwner: credentials!.id });
  });

  it('are refused to a client that does not know the password', () => {
    const credentials = { ...client.credentials!, password: 'guessed' };
    const thief = new EmbeddedClient(server, { credentials });
    expect(thief.heard).toEqual(['expired']);
    expect(client.exists('/own')).toMatchObject({ ephemeralOwner: credentials.id });
  });

  it('are refused once they have expired', async () => {
    const { credentials } = client;
    server.expire(credentials!.id);
    expect(nodes()).toEqual(['stays']);
    expect(new EmbeddedClient(server, { credentials }).heard).toEqual(['expired']);
  });

  it('end in one transaction when their owner says so', () => {
    client.create('/own2', CreateMode.EPHEMERAL_SEQUENTIAL);
    const before = server.tree.nextZxid();
    server.endSession(client.credentials!.id, 'closed');
    expect(server.tree.nextZxid()).toBe(before + 2);
    expect(nodes()).toEqual(['stays']);
  });

  it('of which a node was deleted and made by another are no longer its owner', () => {
    client.delete('/own');
    onlooker.create('/own', CreateMode.EPHEMERAL);
    server.expire(client.credentials!.id);
    expect(nodes()).toEqual(['stays', 'own']);
  });

  it('do not age while the server is frozen, and what was sent to it is read first', async () => {
    await clock.advance(1_900);
    server.freeze();
    let answer: unknown;
    server.receive(() => (answer = client.exists('/own')));
    await clock.advance(60_000);
    expect(answer).toBeUndefined();
    server.thaw();
    expect(answer).toMatchObject({ ephemeralOwner: client.credentials!.id });
    await clock.advance(2_000 - TICK);
    expect(nodes()).toEqual(['own', 'stays']);
    await clock.advance(2 * TICK);
    expect(nodes()).toEqual(['stays']);
  });

  it('never expire on a server without ticks', async () => {
    const tickless = new EmbeddedServer({ clock });
    const { credentials, ...eternal } = new EmbeddedClient(tickless, { sessionTimeout: 1 });
    expect(credentials!.timeout).toBe(Infinity);
    server.endSession(client.credentials!.id, 'closed');
    server.endSession(onlooker.credentials!.id, 'closed');
    expect(clock.isIdle).toBe(true);
    expect(eternal.heard).toEqual([]);
  });

  it('leave no timer behind when they end in a frozen server', async () => {
    server.endSession(onlooker.credentials!.id, 'closed');
    server.freeze();
    server.receive(() => server.endSession(client.credentials!.id, 'closed'));
    await clock.advance(10_000);
    server.thaw();
    expect(clock.isIdle).toBe(true);
  });

  it('leave empty containers to a collector that runs only when there is something to collect', async () => {
    const tickless = new EmbeddedServer({ clock, containerInterval: 1_000 });
    for (let round = 0; round < 2; round++) {
      const user = new EmbeddedClient(tickless);
      user.create('/c', CreateMode.CONTAINER);
      user.create('/c/own', CreateMode.EPHEMERAL);
      await clock.advance(10_000);
      tickless.expire(user.credentials!.id);
      await clock.advance(999);
      expect(tickless.tree.size).toBe(2);
      await clock.advance(1);
      expect(tickless.tree.size).toBe(1);
    }
  });

  it('leave thousands of containers to a collector that removes a thousand in a turn', async () => {
    const tickless = new EmbeddedServer({ clock, containerInterval: 1_000 });
    const user = new EmbeddedClient(tickless);
    for (let i = 0; i < 2_500; i++) {
      user.create(`/${i}`, CreateMode.CONTAINER);
      user.create(`/${i}/own`, CreateMode.EPHEMERAL);
    }
    tickless.expire(user.credentials!.id);
    const left: number[] = [];
    const receive = tickless.receive.bind(tickless);
    tickless.receive = (message) => {
      receive(message);
      left.push(tickless.tree.size - 1);
    };
    await clock.advance(1_000);
    expect(left).toEqual([1_500, 500, 0]);
  });
});

const SESSION_TIMEOUT = 6_000;

/** A client over a faulty network, in virtual time, with all its accidents drawn from one seed. */
function simulate(seed: number) {
  const clock = new VirtualClock();
  const random = seededRandom(seed);
  const server = new EmbeddedServer({ clock, tickTime: TICK });
  const embedded = new EmbeddedTransport(server, (fn) => clock.setTimer(fn, 0));
  const network = new FaultyTransport(embedded, clock);
  network.latency = () => random() * 40;
  const connection = new SessionConnection({
    transport: network,
    servers: embeddedServers,
    sessionTimeout: SESSION_TIMEOUT,
    clock,
    random,
  });
  const log: string[] = [];
  connection.onStateChange((state, reason) => log.push(`${clock.now()} ${state}: ${reason}`));
  return { clock, random, server, network, connection, log };
}

/** 40 accidents in a row, with a request every now and then. */
async function ordeal(seed: number): Promise<string[]> {
  const { clock, random, server, network, connection, log } = simulate(seed);
  const accidents = [
    () => network.cut(),
    () => network.cut('processed'),
    () => network.partition(),
    () => network.heal(),
    () => server.freeze(),
    () => server.thaw(),
    () => connection.session && server.expire(connection.session.id),
    () => (network.isRefusing = !network.isRefusing),
    () => clock.stall(random() * 3_000),
  ];
  connection.start();
  for (let step = 0; step < 40; step++) {
    await clock.advance(random() * 2_000);
    connection
      .create(`/${step}`, Buffer.alloc(0), CreateMode.EPHEMERAL)
      .then(({ path }) => log.push(`${clock.now()} made ${path}`))
      .catch((error: Error) => log.push(`${clock.now()} ${error.message}`));
    accidents[Math.floor(random() * accidents.length)]!();
  }
  network.heal();
  server.thaw();
  network.isRefusing = false;
  await clock.runUntil(() => connection.isConnected, 60_000);
  void connection.close();
  await clock.advance(SESSION_TIMEOUT + TICK); // an older session may have to expire
  expect(server.tree.size).toBe(1);
  return log;
}

describe('a session on the embedded tree in virtual time', () => {
  it('comes back from whatever happens, and the same again from the same seed', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const log = await ordeal(seed);
      expect(log.length).toBeGreaterThan(40);
      expect(await ordeal(seed)).toEqual(log);
    }
  });

  it('is given up before the server expires it', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const { clock, random, server, network, connection } = simulate(seed);
      connection.start();
      await clock.runUntil(() => connection.isConnected, 1_000);
      await clock.runUntil(connection.create('/own', Buffer.alloc(0), CreateMode.EPHEMERAL), 1_000);
      await clock.advance(random() * 20_000);
      const { session } = connection;
      network.partition();
      await clock.runUntil(() => server.tree.get('/own') === undefined, 3 * SESSION_TIMEOUT);
      expect(session!.isAlive).toBe(false);
      expect(connection.state).toBe('LOST');
    }
  });
});
