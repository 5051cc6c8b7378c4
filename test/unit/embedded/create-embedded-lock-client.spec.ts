import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LockOptionsError } from '../../../lib/core/errors/index.js';
import { createEmbeddedLockClient } from '../../../lib/embedded/create-embedded-lock-client.js';
import type { ZooKeeperLockClient } from '../../../lib/zookeeper/zookeeper-lock-client.js';

describe('createEmbeddedLockClient', () => {
  let client: ZooKeeperLockClient;

  beforeEach(async () => {
    client = createEmbeddedLockClient('default');
    await client.connect();
  });
  afterEach(() => client.close());

  it.each([
    ['shares its locks with a client of the same name', 'default', false],
    ['shares nothing with a client of another name', 'another', true],
  ])('%s', async (_, name, isFree) => {
    const other = createEmbeddedLockClient(name);
    await other.connect();
    await using _held = await client.mutex('door').acquire();
    const lease = await other.mutex('door').tryAcquire();
    expect(lease !== undefined).toBe(isFree);
    await other.close();
  });

  it('shares its locks also with a client that was created before it connected', async () => {
    const [one, two] = [createEmbeddedLockClient('pair'), createEmbeddedLockClient('pair')];
    await Promise.all([one.connect(), two.connect()]);
    await using _ = await one.mutex('door').acquire();
    expect(await two.mutex('door').tryAcquire()).toBeUndefined();
    await Promise.all([one.close(), two.close()]);
  });

  it('begins anew where all clients of its name have closed', async () => {
    const first = createEmbeddedLockClient('anew');
    await first.connect();
    const { path } = first.mutex('door');
    await using held = await first.mutex('door').acquire();
    await first.close();
    expect(held.isHeld).toBe(false);
    const second = createEmbeddedLockClient('anew');
    await second.connect();
    expect(second.mutex('door').path).toBe(path);
    expect(await second.mutex('door').participants()).toEqual([]);
    await second.close();
  });

  it('takes a wait for all acquires that name none', async () => {
    const hasty = createEmbeddedLockClient('hasty', { wait: 20, basePath: '/elsewhere' });
    await hasty.connect();
    await using _ = await hasty.mutex('door').acquire({ wait: 'forever' });
    await expect(hasty.mutex('door').acquire()).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
    await hasty.close();
  });

  it('keeps every key in its directory, whatever users send, unless literal paths are asked for', async () => {
    const literal = createEmbeddedLockClient('literal', { literalPaths: true });
    await literal.connect();
    const paths = [];
    for (const { mutex, key } of [
      { mutex: client.mutex('/brokers/ids'), key: 'a key' },
      { mutex: client.mutex('/../etc'), key: 'a key' },
      { mutex: literal.mutex('/brokers/ids'), key: 'a path' },
    ]) {
      const lease = await mutex.acquire();
      paths.push([key, lease.paths[0]!.split('/').slice(0, -1).join('/')]);
      await lease.release();
    }
    expect(paths).toEqual([
      ['a key', '/locks/%2Fbrokers%2Fids'],
      ['a key', '/locks/%2F..%2Fetc'],
      ['a path', '/brokers/ids'],
    ]);
    await literal.close();
  });

  it('grants up to 1,000 permits at once', async () => {
    const semaphore = client.semaphore('seats', { permits: 5_000 });
    const lease = await semaphore.acquire({ permits: 1_000 });
    expect(await semaphore.availablePermits()).toBe(4_000);
    await lease.release();
    await expect(semaphore.acquire({ permits: 1_001 })).rejects.toMatchObject({
      code: 'LOCK_OPTIONS',
      message: expect.stringContaining('from 1 to 1000: count in larger units'),
    });
  });

  it('has nothing that keeps the process alive while it is idle, even holding a lock', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout');
    const before = timers();
    await (await client.mutex('door').acquire()).release();
    await using _ = await client.mutex('door').acquire();
    await nextTurn();
    expect(timers()).toEqual(before);
  });

  it.each([{ wait: 0 }, { wait: Infinity }, { basePath: 'locks' }, { basePath: '/locks/' }])(
    'refuses %j',
    (options) => {
      expect(() => createEmbeddedLockClient('default', options)).toThrow(LockOptionsError);
    },
  );
});
