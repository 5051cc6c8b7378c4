import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { ZooKeeperEnsemble } from '../support/zookeeper-ensemble.js';
import type { ZooKeeperServer } from '../support/zookeeper-server.js';
import { CriticalSection } from './support/critical-section.js';
import { TestClient, type TestClientOptions } from './support/test-client.js';

describe('On an ensemble', () => {
  let ensemble: ZooKeeperEnsemble;
  const clients: TestClient[] = [];

  async function connect(
    options?: TestClientOptions,
    first?: ZooKeeperServer,
  ): Promise<TestClient> {
    const servers = first ? `${first.connectString},` : '';
    const client = await TestClient.connect(servers + ensemble.connectString, options);
    clients.push(client);
    return client;
  }

  beforeAll(async () => {
    ensemble = await ZooKeeperEnsemble.start();
  }, 60_000);
  afterEach(() => Promise.all(clients.splice(0).map(({ locks }) => locks.close())));
  afterAll(() => ensemble.stop());

  it('a mutex has one holder at a time, and no lease is lost, when the leader is killed under load', async () => {
    const section = new CriticalSection();
    const tokens: bigint[] = [];
    let isOver = false;
    for (const server of ensemble.servers) for (let n = 0; n < 2; n++) await connect({}, server);
    const sessions = clients.map(({ connection }) => connection.session);
    const kept = await clients[0]!.locks.mutex('kept').acquire();

    const visits = clients.map(() => 0);
    const workers = clients.map(async ({ locks }, n) => {
      while (!isOver) {
        await locks.mutex('shared').using(async (lease) => {
          section.enter(`client ${n}`);
          tokens.push(await lease.fencingToken());
          visits[n]! += 1;
          section.leave();
        });
      }
    });
    const allWorkOn = () => {
      const sofar = [...visits];
      return eventually(
        'every client has had the lock 5 times more',
        () => visits.every((count, n) => count >= sofar[n]! + 5),
        { within: 20_000 },
      );
    };

    await allWorkOn();
    const leader = await ensemble.leader();
    await leader.kill();
    await Promise.all(clients.map((client) => client.reached('RECONNECTED')));
    await allWorkOn();
    isOver = true;
    await Promise.all(workers);

    expect(section.most).toBe(1);
    expect(tokens).toEqual([...tokens].sort((a, b) => (a < b ? -1 : 1)));
    expect(clients.map(({ connection }) => connection.session)).toEqual(sessions);
    expect([kept.isHeld, kept.signal.aborted]).toEqual([true, false]);
    await clients[0]!.queue('/locks/shared', 0);
    await leader.restart();
  }, 60_000);

  it('a client finds a server though one is dead', async () => {
    const [dead] = await ensemble.followers();
    await dead!.kill();
    for (let n = 0; n < 6; n++) {
      const { locks } = await connect();
      await locks.mutex('any').using((lease) => expect(lease.isHeld).toBe(true));
    }
    await dead!.restart();
  });

  it('a session outlives the freezing of its server: another one is found in time', async () => {
    const [frozen] = await ensemble.followers();
    const client = await eventually('a client of that server', async () => {
      const candidate = await connect({ sessionTimeout: 6_000 });
      const server = await ensemble.serverOf(candidate.connection.session!.id);
      return server === frozen && candidate;
    });
    const { session } = client.connection;
    const lease = await client.locks.mutex('frozen').acquire();
    frozen!.freeze();
    await client.reached('RECONNECTED');
    expect(client.states).toEqual(['SUSPENDED', 'RECONNECTED']);
    expect(client.connection.session).toBe(session);
    expect([lease.isHeld, lease.signal.aborted]).toEqual([true, false]);
    frozen!.thaw();
    await eventually('the server is back', () => frozen!.role());
    expect(client.states).toEqual(['SUSPENDED', 'RECONNECTED']);
    await client.queue('/locks/frozen', 1);
  });
});
