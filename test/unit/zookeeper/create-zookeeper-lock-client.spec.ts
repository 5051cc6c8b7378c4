import { describe, expect, it } from '@jest/globals';
import { LockOptionsError } from '../../../lib/core/errors/index.js';
import { createZooKeeperLockClient } from '../../../lib/zookeeper/create-zookeeper-lock-client.js';

const create = (options: object) =>
  createZooKeeperLockClient('unit', { connect: 'zk1:2181', ...options });

describe('createZooKeeperLockClient', () => {
  it.each([
    ['connect', 'zk1:port', 'servers as'],
    ['connect', undefined, 'servers as'],
    ['sessionTimeout', 0, 'milliseconds above 0'],
    ['sessionTimeout', -1, 'milliseconds above 0'],
    ['sessionTimeout', NaN, 'milliseconds above 0'],
    ['sessionTimeout', Infinity, 'milliseconds above 0'],
    ['sessionTimeout', 2 ** 31, 'milliseconds above 0'],
    ['sessionTimeout', '30s', 'milliseconds above 0'],
    ['connectTimeout', 0, 'milliseconds above 0'],
    ['connectTimeout', 'soon', 'milliseconds above 0'],
    ['basePath', '', "a path such as '/locks'"],
    ['basePath', 'locks', "a path such as '/locks'"],
    ['basePath', '/', "a path such as '/locks'"],
    ['basePath', '/locks/', "a path such as '/locks'"],
    ['basePath', '/my//locks', "a path such as '/locks'"],
    ['basePath', 5, "a path such as '/locks'"],
    ['tickTime', 0, 'milliseconds above 0'],
    ['tickTime', '2s', 'milliseconds above 0'],
    ['errorPolicy', 'strict', "'standard' or 'session'"],
    ['literalPaths', 'yes', 'true or false'],
    ['wait', 0, 'milliseconds above 0'],
    ['wait', 'never', "or 'forever'"],
    ['retryPolicy', {}, 'a RetryPolicy'],
    ['retryPolicy', null, 'a RetryPolicy'],
    ['retryPolicy', 5, 'a RetryPolicy'],
    ['auth', 'user:password', "{ scheme: 'digest', auth: 'user:password' }"],
    ['auth', [null], "{ scheme: 'digest', auth: 'user:password' }"],
    ['auth', [{ scheme: 'digest' }], "{ scheme: 'digest', auth: 'user:password' }"],
    ['acl', [], 'at least one entry'],
    ['acl', 'world', 'at least one entry'],
    ['acl', [{ perms: '31', scheme: 'world', id: 'anyone' }], 'at least one entry'],
    ['acl', [{ perms: 0, scheme: 'world', id: 'anyone' }], 'at least one entry'],
    ['acl', [{ perms: 32, scheme: 'world', id: 'anyone' }], 'at least one entry'],
  ])('refuses %s = %p', async (option, value, expected) => {
    const client = create({ [option]: value });
    await expect(client).rejects.toBeInstanceOf(LockOptionsError);
    await expect(client).rejects.toMatchObject({
      code: 'LOCK_OPTIONS',
      option,
      client: 'unit',
      message: expect.stringContaining(expected),
    });
  });

  it('shows no credentials', async () => {
    for (const auth of ['digest:secret', [{ scheme: 'secret' }], [{ auth: 'secret' }]]) {
      const error: unknown = await create({ auth }).catch((failure: unknown) => failure);
      expect((error as Error).message).not.toContain('secret');
    }
  });

  it('takes the rest, connects to nothing, and can be closed unused', async () => {
    const client = await create({
      sessionTimeout: 10_000.5,
      connectTimeout: 1,
      basePath: '/my/locks',
      wait: 'forever',
      auth: [{ scheme: 'digest', auth: 'user:password' }],
      acl: [{ perms: 31, scheme: 'auth', id: '' }],
    });
    expect(client.name).toBe('unit');
    expect(client.mutex('door')).toMatchObject({ key: 'door', path: '/my/locks/door' });
    await client.close();
  });
});
