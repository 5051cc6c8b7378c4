import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { eventually } from '../../support/time.js';
import { useZooKeeperEnsemble } from '../../support/fixtures.js';
import { byTier } from '../../support/tier.js';
import type { ZooKeeperEnsembleOptions } from '../../support/zookeeper-ensemble.js';
import type { ZooKeeperServer } from '../../support/zookeeper-server.js';
import { CriticalSection } from '../support/leases.js';
import { TestClient, type TestClientOptions } from '../support/test-client.js';

const clients: TestClient[] = [];
let key: string;

beforeEach(() => void (key = randomUUID()));

async function connect(servers: string, options?: TestClientOptions): Promise<TestClient> {
  const client = await TestClient.connect(servers, options);
  clients.push(client);
  return client;
}

/** The ensemble of the surrounding `describe`; every test leaves it whole. */
function useWholeEnsemble(options?: ZooKeeperEnsembleOptions) {
  const ensemble = useZooKeeperEnsemble(options);

  afterEach(async () => {
    for (const server of ensemble().servers) {
      server.thaw();
      if (!server.running) await server.restart();
    }
    ensemble().mend();
    await Promise.all(clients.splice(0).map(({ locks }) => locks.close()));
    await eventually('the ensemble is whole', () => ensemble().isWhole(), { within: 60_000 });
    // A server whose link was cut may still call itself a follower, and then look for the leader: a session proves the link.
    for (const { connectString } of ensemble().servers)
      await (await TestClient.connect(connectString, { connectTimeout: 60_000 })).locks.close();
  }, 130_000);

  const serverOf = ({ connection }: TestClient) => ensemble().serverOf(connection.session!.id);

  /** A client that may go to all servers, and has come to one that follows. */
  const onFollower = (options: TestClientOptions): Promise<TestClient> =>
    eventually(
      'a client of a follower',
      async () => {
        const client = await connect(ensemble().connectString, options);
        return (await serverOf(client)) !== (await ensemble().leader()) && client;
      },
      { within: 30_000 },
    );

  return { ensemble, serverOf, onFollower };
}

describe('On an ensemble', () => {
  const { ensemble, serverOf, onFollower } = useWholeEnsemble();

  it('a mutex has one holder at a time, and no lease is lost, when the leader is killed under load', async () => {
    const { servers, connectString } = ensemble();
    const section = new CriticalSection();
    const tokens: bigint[] = [];
    let isOver = false;
    const firsts = servers.flatMap((server) => [server, server]);
    // A round of the election that fails takes `initLimit`, 10 s here, as on a busy machine now and then: sessions outlast it.
    const sessionTimeout = 30_000;
    for (const first of firsts)
      await connect(`${first.connectString},${connectString}`, { sessionTimeout });
    const sessions = clients.map(({ connection }) => connection.session);
    const kept = await clients[0]!.locks.mutex('kept').acquire();

    const visits = clients.map(() => 0);
    const workers = clients.map(async ({ locks }, n) => {
      while (!isOver) {
        await locks.mutex(key).using(async (lease) => {
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
        { within: 30_000 },
      );
    };

    await allWorkOn();
    await (await ensemble().leader()).kill();
    await Promise.all(clients.map((client) => client.reached('RECONNECTED')));
    await allWorkOn();
    isOver = true;
    await Promise.all(workers);

    expect(section.most).toBe(1);
    expect(tokens).toEqual([...tokens].sort((a, b) => (a < b ? -1 : 1)));
    expect(clients.map(({ connection }) => connection.session)).toEqual(sessions);
    expect([kept.isHeld, kept.signal.aborted]).toEqual([true, false]);
    await clients[0]!.queue(`/locks/${key}`, 0);
  }, 90_000);

  it('a client finds a server though one is dead', async () => {
    const [dead] = await ensemble().followers();
    await dead!.kill();
    for (let n = 0; n < 6; n++) {
      const { locks } = await connect(ensemble().connectString);
      await locks.mutex('any').using((lease) => expect(lease.isHeld).toBe(true));
    }
  });

  it('a session outlives the freezing of its server: another one is found in time', async () => {
    const client = await onFollower({ sessionTimeout: 6_000 });
    const frozen = (await serverOf(client))!;
    const { session } = client.connection;
    const lease = await client.locks.mutex(key).acquire();
    frozen.freeze();
    await client.reached('RECONNECTED');
    expect(client.states).toEqual(['SUSPENDED', 'RECONNECTED']);
    expect(client.connection.session).toBe(session);
    expect([lease.isHeld, lease.signal.aborted]).toEqual([true, false]);
    frozen.thaw();
    await eventually('the server is back', () => frozen.role());
    expect(client.states).toEqual(['SUSPENDED', 'RECONNECTED']);
    await client.queue(`/locks/${key}`, 1);
  });
});

/** It answers reads for `syncLimit` ticks, while the leader hears nothing of its clients, and expires their sessions. */
describe('Beside a server that is cut off from the leader', () => {
  const { ensemble, serverOf, onFollower } = useWholeEnsemble({
    isSeverable: true,
    tickTime: 500,
    config: { syncLimit: 60 },
  });

  /** One client of the server that is to be cut off, and one of the others. */
  async function pair(options: TestClientOptions): Promise<[TestClient, TestClient]> {
    const [follower, ...others] = await ensemble().followers();
    const reachable = [...others, await ensemble().leader()];
    const names = reachable.map(({ connectString }: ZooKeeperServer) => connectString).join();
    return [await connect(follower!.connectString, options), await connect(names, options)];
  }

  /** Cuts the server off that the client is connected to. */
  async function cutOff(client: TestClient): Promise<void> {
    ensemble().cutOff((await serverOf(client))!);
  }

  it.each(byTier({ quick: [1_500], standard: [1_500], long: [1_500, 3_000, 6_000] }))(
    'a lease is over, and has said so, when another one is granted (sessions of %d ms)',
    async (sessionTimeout) => {
      const [near, far] = await pair({ sessionTimeout });
      const lease = await near.locks.mutex(key).acquire();
      const { signal } = lease;
      const waiting = far.locks.mutex(key).acquire();
      await near.queue(`/locks/${key}`, 2);
      await cutOff(near);
      const next = await waiting;
      expect([signal.aborted, lease.isHeld, next.isHeld]).toEqual([true, false, true]);
    },
    60_000,
  );

  it('a latch leads no longer when another one does', async () => {
    const [near, far] = await pair({ sessionTimeout: 2_000 });
    const first = near.locks.leaderLatch(key);
    const second = far.locks.leaderLatch(key);
    first.start();
    const { signal } = await first.awaitLeadership();
    second.start();
    await near.queue(`/locks/${key}`, 2);
    await cutOff(near);
    await second.awaitLeadership();
    expect([signal.aborted, first.hasLeadership]).toEqual([true, false]);
    await Promise.all([first.close(), second.close()]);
  }, 60_000);

  it('a lease goes on when the client has another server to go to', async () => {
    const client = await onFollower({ sessionTimeout: 6_000 });
    const lease = await client.locks.mutex(key).acquire();
    await cutOff(client);
    await client.reached('RECONNECTED');
    expect(lease.isHeld).toBe(true);
  }, 60_000);

  it('with the policy `standard` a lease ends with the connection, and the lock is released', async () => {
    const [near, far] = await pair({ sessionTimeout: 8_000, errorPolicy: 'standard' });
    const lease = await near.locks.mutex(key).acquire();
    const lost = eventually('it is lost', () => lease.signal.aborted, { within: 20_000 });
    const waiting = far.locks.mutex(key).acquire();
    await near.queue(`/locks/${key}`, 2);
    await cutOff(near);
    await lost;
    expect([near.connection.session?.isAlive, lease.isHeld]).toEqual([true, false]);
    ensemble().mend();
    expect((await waiting).isHeld).toBe(true); // long before the session could expire
    expect(near.connection.session?.isAlive).toBe(true);
  }, 60_000);
});
