import { describe, expect, it } from '@jest/globals';
import { EmbeddedServer } from '../../../lib/embedded/embedded-server.js';
import { embeddedServers, EmbeddedTransport } from '../../../lib/embedded/embedded-transport.js';
import { CreateMode } from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { SessionConnection } from '../../../lib/zookeeper/connection/session-connection.js';
import { FaultyTransport } from '../../support/faulty-transport.js';
import { seededRandom } from '../../support/seeded-random.js';
import { VirtualClock } from '../../support/virtual-clock.js';

const TICK = 500;
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
      .then((path) => log.push(`${clock.now()} made ${path}`))
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
