import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createZooKeeperLockClient } from '../../lib/zookeeper/create-zookeeper-lock-client.js';
import type { ZooKeeperLockClient } from '../../lib/zookeeper/zookeeper-lock-client.js';
import { freePorts } from '../support/free-ports.js';
import { ZooKeeperServer } from '../support/zookeeper-server.js';
import { TestClient } from './support/test-client.js';

/** Longer than a label may be: it is refused without asking a name service. */
const UNRESOLVABLE = 'x'.repeat(64);

describe('A connect string', () => {
  let server: ZooKeeperServer;
  const clients: ZooKeeperLockClient[] = [];

  async function expectWorks(connect: string): Promise<void> {
    const client = await createZooKeeperLockClient('test', { connect, connectTimeout: 5_000 });
    clients.push(client);
    await client.connect();
    await client.mutex('any').using((lease) => expect(lease.isHeld).toBe(true));
  }

  beforeAll(async () => {
    server = await ZooKeeperServer.start();
  });
  afterEach(() => Promise.all(clients.splice(0).map((client) => client.close())));
  afterAll(() => server.stop());

  it('may hold a name, also one with a first address that has no listener', async () => {
    await expectWorks(`localhost:${server.port}`); // ::1 and 127.0.0.1 on most hosts
  });

  it('may hold an IPv6 address', async () => {
    const six = await ZooKeeperServer.start({ host: '::1' });
    try {
      await expectWorks(six.connectString);
    } finally {
      await Promise.all(clients.splice(0).map((client) => client.close()));
      await six.stop();
    }
  });

  it('may hold servers that are down and names that do not resolve', async () => {
    const [unused] = await freePorts(1, '127.0.0.1');
    await expectWorks(`${UNRESOLVABLE}:2181,127.0.0.1:${unused},${server.connectString}`);
    await expectWorks(`${server.connectString},127.0.0.1:${unused},${UNRESOLVABLE}:2181`);
  });

  it('may end with a chroot that does not exist yet', async () => {
    const watcher = await TestClient.connect(server.connectString);
    clients.push(watcher.locks);
    await expectWorks(`${server.connectString}/team/app`);
    expect(await watcher.children('/team/app/locks')).toEqual(['any']);
    const inside = await TestClient.connect(`${server.connectString}/team/app`);
    clients.push(inside.locks);
    await using _ = await inside.locks.mutex('/from/curator').acquire();
    await watcher.queue('/team/app/from/curator', 1);
    expect(await watcher.children('/from/curator')).toEqual([]);
  });
});
