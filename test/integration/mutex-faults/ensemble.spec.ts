import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { ZooKeeperEnsemble } from '../../support/zookeeper-ensemble.js';
import { CriticalSection } from '../support/critical-section.js';
import { TestClient } from '../support/test-client.js';

describe('A mutex on an ensemble', () => {
  let ensemble: ZooKeeperEnsemble;
  let clients: TestClient[];
  const section = new CriticalSection();
  const tokens: bigint[] = [];
  let isOver = false;

  /** Takes the lock again and again. */
  async function work(client: TestClient, visitor: string): Promise<void> {
    const mutex = client.locks.mutex('shared');
    while (!isOver) {
      await mutex.using(async (lease) => {
        section.enter(visitor);
        tokens.push(await lease.fencingToken());
        section.leave();
      });
    }
  }

  const visitsOf = (visitor: string) =>
    section.visitors.filter((other) => other === visitor).length;

  beforeAll(async () => {
    ensemble = await ZooKeeperEnsemble.start();
    clients = await Promise.all(
      ensemble.servers.flatMap((server) =>
        [0, 1].map(() => TestClient.connect(`${server.connectString},${ensemble.connectString}`)),
      ),
    );
  }, 60_000);
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.locks.close()));
    await ensemble.stop();
  });

  it('goes on, with one holder at a time and no lease lost, when the leader is killed', async () => {
    const sessions = clients.map(({ connection }) => connection.session);
    const kept = await clients[0]!.locks.mutex('kept').acquire();
    const workers = clients.map((client, n) => work(client, `client ${n}`));
    const allWorked = (times: number) => {
      const sofar = clients.map((_, n) => visitsOf(`client ${n}`));
      return eventually(
        `every client had the lock ${times} times more`,
        () => sofar.every((visits, n) => visitsOf(`client ${n}`) >= visits + times),
        { within: 20_000 },
      );
    };

    await allWorked(5);
    await (await ensemble.leader()).kill();
    await Promise.all(clients.map((client) => client.reached('RECONNECTED')));
    await allWorked(5);
    isOver = true;
    await Promise.all(workers);

    expect(section.most).toBe(1);
    expect(tokens).toEqual([...tokens].sort((a, b) => (a < b ? -1 : 1)));
    expect(clients.map(({ connection }) => connection.session)).toEqual(sessions);
    expect([kept.isHeld, kept.signal.aborted]).toEqual([true, false]);
    await clients[0]!.queue('/locks/shared', 0);
  }, 60_000);
});
