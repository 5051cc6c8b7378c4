import { describe, expect, it } from '@jest/globals';
import { createLockClient } from '../../../lib/clients/lock-client.factory.js';
import type { LockModuleOptions } from '../../../lib/index.js';

const REDIS = { backend: 'redis', connect: { host: '127.0.0.1', lazyConnect: true } } as const;
const ZOOKEEPER = { backend: 'zookeeper', connect: '127.0.0.1:1' } as const;

/** The name of a lock on the servers, of a client that never connects. */
async function nameOf(options: LockModuleOptions): Promise<string> {
  const client = await createLockClient('default', options);
  const { name } = client.mutex('order:7').identity;
  await client.close();
  return name;
}

describe('A namespace', () => {
  it.each<[string, LockModuleOptions, string]>([
    ['Redis', REDIS, 'shop-1:order:7'],
    ['ZooKeeper', ZOOKEEPER, '/locks/shop-1/order%3A7'],
    ['embedded', {}, '/locks/shop-1/order%3A7'],
  ])('is part of the name of each lock on %s', async (_, options, name) => {
    expect(await nameOf({ ...options, namespace: 'shop-1' })).toBe(name);
  });

  it.each([
    [{ namespace: '' }, 'namespace'],
    [{ namespace: 'a/b' }, 'namespace'],
    [{ namespace: '../b' }, 'namespace'],
    [{ namespace: 'a:b' }, 'namespace'],
    [{ namespace: 7 }, 'namespace'],
    [{ namespace: 'a', basePath: '/b' }, 'basePath'],
    [{ ...ZOOKEEPER, namespace: 'a', basePath: '/b' }, 'basePath'],
    [{ ...REDIS, namespace: 'a', prefix: 'b' }, 'prefix'],
  ])('is refused as %j', async (options, option) => {
    const creating = createLockClient('default', options as LockModuleOptions);
    await expect(creating).rejects.toMatchObject({ code: 'LOCK_OPTIONS', option });
  });
});
