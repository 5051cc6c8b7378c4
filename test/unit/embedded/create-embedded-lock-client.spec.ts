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

  it('shares nothing with another client, also of the same name', async () => {
    const other = createEmbeddedLockClient('default');
    await other.connect();
    const [mine, theirs] = [client.mutex('door'), other.mutex('door')];
    await using _ = (await mine.tryAcquire())!;
    await using lease = await theirs.tryAcquire();
    expect(lease?.isHeld).toBe(true);
    await other.close();
  });

  it('takes a wait for all acquires that name none', async () => {
    const hasty = createEmbeddedLockClient('hasty', { wait: 20, basePath: '/elsewhere' });
    await hasty.connect();
    await using _ = await hasty.mutex('door').acquire();
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
