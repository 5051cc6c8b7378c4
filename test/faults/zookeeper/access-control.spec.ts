import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LockConnectionError } from '../../../lib/core/errors/index.js';
import { CreateMode, Permission } from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { createZooKeeperLockClient } from '../../../lib/zookeeper/create-zookeeper-lock-client.js';
import type { ZooKeeperLockClient } from '../../../lib/zookeeper/zookeeper-lock-client.js';
import type { ZooKeeperLockOptions } from '../../../lib/zookeeper/zookeeper-options.js';
import { useZooKeeperStage } from '../support/zookeeper-stage.js';

const EMPTY = Buffer.alloc(0);

describe('Locks in directories that only one user may access', () => {
  const stage = useZooKeeperStage({ containerCheckIntervalMs: 100 });
  const clients: ZooKeeperLockClient[] = [];
  let basePath: string;

  beforeEach(() => void (basePath = `/${stage.key}`));
  afterEach(() => Promise.all(clients.splice(0).map((client) => client.close())));

  async function connect(options: Partial<ZooKeeperLockOptions>): Promise<ZooKeeperLockClient> {
    const client = await createZooKeeperLockClient('test', {
      connect: stage.server.connectString,
      connectTimeout: 2_000,
      basePath,
      ...options,
    });
    clients.push(client);
    await client.connect();
    return client;
  }

  const user = (auth: string) =>
    connect({
      auth: [{ scheme: 'digest', auth }],
      acl: [{ perms: Permission.ALL, scheme: 'auth', id: '' }],
    });

  it('exclude the clients of that user from each other', async () => {
    const [one, two] = [await user('ann:secret'), await user('ann:secret')];
    const lease = await one.mutex('seats').acquire();
    expect(await two.mutex('seats').tryAcquire()).toBeUndefined();
    const queued = two.mutex('seats').acquire();
    await lease.release();
    await using next = await queued;
    expect(next.isHeld).toBe(true);
  });

  it('let no other user list, queue or delete', async () => {
    const ann = await user('ann:secret');
    await using _ = await ann.mutex('seats').acquire();
    const [holding] = await ann.mutex('seats').participants();
    const { connection } = stage.other;
    const refused = { code: 'NOAUTH', maybeDone: false };
    await connection.sync('/');
    for (const directory of [basePath, `${basePath}/seats`])
      await expect(connection.getChildren(directory)).rejects.toMatchObject(refused);
    await expect(connection.delete(holding!)).rejects.toMatchObject(refused);

    const open = await connect({});
    await expect(open.mutex('seats').acquire()).rejects.toThrow(LockConnectionError);
    await expect(open.mutex('other').acquire()).rejects.toThrow(LockConnectionError);
  });

  it('let no other user change a number, a value or a barrier', async () => {
    const ann = await user('ann:secret');
    const limit = ann.sharedCount('limit', 1);
    const mode = ann.sharedValue('mode', Buffer.from('on'));
    await Promise.all([limit.start(), mode.start()]);
    await ann.atomicLong('hits').increment();
    await ann.barrier('import').setBarrier();
    await ann.doubleBarrier('batch', 1).enter();
    const { connection } = stage.other;
    await connection.sync('/');
    const refused = { code: 'NOAUTH' };
    const paths = ['limit', 'mode', 'hits', 'import', 'batch/ready'];
    for (const path of paths.map((name) => `${basePath}/${name}`)) {
      await expect(connection.getData(path)).rejects.toMatchObject(refused);
      await expect(connection.setData(path, Buffer.alloc(4))).rejects.toMatchObject(refused);
      await expect(connection.delete(path)).rejects.toMatchObject(refused);
    }
    const semaphore = ann.semaphore('seats', { permits: limit });
    await using _ = await semaphore.acquire();
    expect(await semaphore.tryAcquire()).toBeUndefined();
    limit.close();
    mode.close();
  });

  it('are of nodes that others may at most read, by the driver `wire`, where they may read the directories', async () => {
    const [anyone, mine] = [
      { scheme: 'world', id: 'anyone' },
      { scheme: 'auth', id: '' },
    ];
    const ann = await connect({
      driver: 'wire',
      auth: [{ scheme: 'digest', auth: 'ann:secret' }],
      acl: [
        { perms: Permission.ALL, ...mine },
        { perms: Permission.READ, ...anyone },
      ],
    });
    await using _ = await ann.mutex('seats').acquire();
    await using _permit = await ann.semaphore('rooms', { permits: 1 }).acquire();
    const waiting = Promise.allSettled([
      ann.semaphore('rooms', { permits: 1 }).acquire(),
      ann.doubleBarrier('batch', 2).enter(),
    ]);
    const { connection } = stage.other;
    const nodes = { seats: 1, 'rooms/leases': 2, 'rooms/locks': 1, batch: 1 };
    for (const [place, count] of Object.entries(nodes)) {
      const directory = `${basePath}/${place}`;
      await stage.other.queue(directory, count);
      const [name] = await connection.getChildren(directory);
      const path = `${directory}/${name}`;
      await connection.getData(path);
      const open = [{ perms: Permission.ALL, ...anyone }];
      await expect(connection.setAcl(path, open)).rejects.toMatchObject({ code: 'NOAUTH' });
      await expect(connection.setData(path, EMPTY)).rejects.toMatchObject({ code: 'NOAUTH' });
    }
    await ann.close();
    await waiting;
  });

  it('are well for a client that may not read the directory above them', async () => {
    const { connection } = stage.other;
    const [above, open] = [basePath, { scheme: 'world', id: 'anyone' }];
    for (const path of [above, `${above}/locks`])
      await connection.create(path, Buffer.alloc(0), CreateMode.PERSISTENT);
    await connection.setAcl(above, [{ perms: Permission.CREATE, ...open }]);
    const connectString = `${stage.server.connectString}${above}`;
    const client = await connect({ connect: connectString, basePath: '/locks' });
    await client.mutex('seats').using(() => {});
    expect(await client.ping(10_000)).toBeGreaterThanOrEqual(0);
  });

  it('report to a client with another password what is wrong', async () => {
    const ann = await user('ann:secret');
    await using _ = await ann.mutex('seats').acquire();
    const mistaken = await user('ann:wrong');
    const refusal = expect(mistaken.mutex('seats').acquire()).rejects;
    await refusal.toMatchObject({ code: 'LOCK_CONNECTION', key: 'seats', client: 'test' });
    await expect(mistaken.mutex('seats').tryAcquire()).rejects.toThrow(
      /refused to create .+seats.+: NOAUTH\. Check the options `auth`, `acl` and `basePath`/,
    );
  });

  it('refuse to connect a client with credentials that the server does not know', async () => {
    const unknown = { auth: [{ scheme: 'no-such-scheme', auth: 'x' }] };
    await expect(connect(unknown)).rejects.toThrow(
      // The server hangs up after its refusal, and the end may overtake it.
      /not connect .*(authentication \(no-such-scheme\) refused|closed the connection before it accepted the (session|credentials))/,
    );
  });
});
