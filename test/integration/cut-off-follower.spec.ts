import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { eventually } from '../support/eventually.js';
import { ZooKeeperEnsemble } from '../support/zookeeper-ensemble.js';
import { TestClient, type TestClientOptions } from './support/test-client.js';

const TICK = 500;

/** It answers reads for `syncLimit` ticks, while the leader hears nothing of its clients, and expires their sessions. */
describe('Beside a server that is cut off from the leader', () => {
  let ensemble: ZooKeeperEnsemble;
  let key: string;
  const clients: TestClient[] = [];

  /** One client of the server that is to be cut off, and one of the others. */
  async function pair(options: TestClientOptions): Promise<[TestClient, TestClient]> {
    const [follower, ...others] = await ensemble.followers();
    const reachable = [...others, await ensemble.leader()];
    const near = await TestClient.connect(follower!.connectString, options);
    const names = reachable.map(({ connectString }) => connectString).join();
    const far = await TestClient.connect(names, options);
    clients.push(near, far);
    return [near, far];
  }

  /** One that may go to all servers, and has come to one that follows. */
  async function onFollower(options: TestClientOptions): Promise<TestClient> {
    for (;;) {
      const client = await TestClient.connect(ensemble.connectString, options);
      clients.push(client);
      const server = await ensemble.serverOf(client.connection.session!.id);
      if (server !== (await ensemble.leader())) return client;
    }
  }

  /** Cuts the server off that the client is connected to. */
  async function cutOff({ connection }: TestClient): Promise<void> {
    ensemble.cutOff((await ensemble.serverOf(connection.session!.id))!);
  }

  beforeAll(async () => {
    ensemble = await ZooKeeperEnsemble.start({
      isSeverable: true,
      tickTime: TICK,
      config: { syncLimit: 60 },
    });
  }, 60_000);
  beforeEach(() => void (key = randomUUID()));
  afterEach(async () => {
    ensemble.mend();
    await Promise.all(clients.splice(0).map(({ locks }) => locks.close()));
    await eventually('the ensemble is whole', () => ensemble.isWhole(), { within: 60_000 });
  }, 70_000);
  afterAll(() => ensemble.stop());

  it.each([1_500, 3_000, 6_000])(
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
    const [first, second] = [near, far].map(({ locks }) => locks.leaderLatch(key)) as [
      ReturnType<TestClient['locks']['leaderLatch']>,
      ReturnType<TestClient['locks']['leaderLatch']>,
    ];
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
    const client = await onFollower({ sessionTimeout: 10_000 });
    const lease = await client.locks.mutex(key).acquire();
    await cutOff(client);
    await client.reached('RECONNECTED');
    expect(lease.isHeld).toBe(true);
  }, 60_000);

  it('with the policy `standard` a lease ends with the connection, and the lock is released', async () => {
    const [near, far] = await pair({ sessionTimeout: 20_000, errorPolicy: 'standard' });
    const lease = await near.locks.mutex(key).acquire();
    const lost = eventually('it is lost', () => lease.signal.aborted, { within: 20_000 });
    const waiting = far.locks.mutex(key).acquire();
    await near.queue(`/locks/${key}`, 2);
    await cutOff(near);
    await lost;
    expect([near.connection.session?.isAlive, lease.isHeld]).toEqual([true, false]);
    ensemble.mend();
    expect((await waiting).isHeld).toBe(true); // long before the session could expire
    expect(near.connection.session?.isAlive).toBe(true);
  }, 60_000);
});
