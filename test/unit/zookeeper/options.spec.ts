import { describe, expect, it } from '@jest/globals';
import { inspect } from 'node:util';
import { LockOptionsError } from '../../../lib/core/errors/index.js';
import { parseConnectString } from '../../../lib/zookeeper/connection/server-list.js';
import { createZooKeeperLockClient } from '../../../lib/zookeeper/create-zookeeper-lock-client.js';

const create = (options: object) =>
  createZooKeeperLockClient('unit', { connect: 'zk1:2181', ...options });

describe('createZooKeeperLockClient', () => {
  it.each([
    ['connect', 'zk1:port', 'servers as'],
    ['connect', undefined, 'servers as'],
    ['driver', 'java', "'native' or 'wire'"],
    ['driver', null, "'native' or 'wire'"],
    ['tls', true, '{ ca, cert, key }'],
    ['tls', null, '{ ca, cert, key }'],
    ['tls', { cert: 'secret' }, '{ ca, cert, key }'],
    ['tls', { cert: 'secret', key: 'secret' }, '{ ca, cert, key }'],
    ['tls', { ca: 'secret' }, '{ ca, cert, key }'],
    ['tls', { certificate: '' }, '{ ca, cert, key }'],
    ['tls', { servername: 5 }, '{ ca, cert, key }'],
    ['tls', { rejectUnauthorized: 'no' }, '{ ca, cert, key }'],
    ['sasl', 'secret', '{ username, password }'],
    ['sasl', { username: '', password: 'secret' }, '{ username, password }'],
    ['sasl', { username: 'ann' }, '{ username, password }'],
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
    ['maxWaiters', 0, 'a whole number from 1, or Infinity'],
    ['wait', -1, 'milliseconds above 0'],
    ['wait', 0, 'none, and call `tryAcquire`'],
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

  it('refuses TLS and SASL by the native driver, which has neither', async () => {
    for (const option of [{ tls: {} }, { sasl: { username: 'ann', password: 'secret' } }])
      await expect(create({ driver: 'native', ...option })).rejects.toMatchObject({
        option: 'driver',
        message: expect.stringContaining("'wire'"),
      });
  });

  it('shows no credentials', async () => {
    for (const tls of [{ key: 'secret' }, { cert: 'secret', key: 'secret' }]) {
      const error: unknown = await create({ tls }).catch((failure: unknown) => failure);
      expect(inspect(error, { depth: 9 })).not.toContain('secret');
    }
    for (const auth of ['digest:secret', [{ scheme: 'secret' }], [{ auth: 'secret' }]]) {
      const error: unknown = await create({ auth }).catch((failure: unknown) => failure);
      expect((error as Error).message).not.toContain('secret');
    }
  });
});

describe('A connect string', () => {
  it.each([
    ['zk1', [{ host: 'zk1', port: 2181 }], ''],
    ['zk1:2182', [{ host: 'zk1', port: 2182 }], ''],
    ['zk-1.my_corp.example:65535', [{ host: 'zk-1.my_corp.example', port: 65_535 }], ''],
    ['127.0.0.1:1', [{ host: '127.0.0.1', port: 1 }], ''],
    ['[::1]', [{ host: '::1', port: 2181 }], ''],
    ['[2001:db8::7:1]:2183/app', [{ host: '2001:db8::7:1', port: 2183 }], '/app'],
    ['zk1/', [{ host: 'zk1', port: 2181 }], ''],
    ['zk1/my/app', [{ host: 'zk1', port: 2181 }], '/my/app'],
    [
      'zk1:1, 10.0.0.2 ,[::1]:3/app',
      [
        { host: 'zk1', port: 1 },
        { host: '10.0.0.2', port: 2181 },
        { host: '::1', port: 3 },
      ],
      '/app',
    ],
  ])('may be %j', (connect, servers, chroot) => {
    expect(parseConnectString(connect)).toEqual({ servers, chroot });
  });

  it.each([
    undefined,
    null,
    2181,
    ['zk1:2181'],
    '',
    ' ',
    ',',
    'zk1,',
    '/app',
    'zk1:0',
    'zk1:65536',
    'zk1:port',
    'zk1:',
    ':2181',
    '::1',
    '::1:2181',
    '[::1',
    '[zk1]:2181',
    '[:::]',
    'zk1 zk2',
    'zk1;zk2',
    'http://zk1:2181',
    'zk1:2181/app/',
    'zk1:2181//app',
    'zk1:2181/../app',
    'zk1/a,zk2/b',
  ])('may not be %j', (connect) => {
    const parse = () => parseConnectString(connect, 'unit');
    expect(parse).toThrow(LockOptionsError);
    expect(parse).toThrow(
      expect.objectContaining({
        code: 'LOCK_OPTIONS',
        option: 'connect',
        client: 'unit',
        message: expect.stringContaining("Give servers as 'host:port,host:port'"),
      }),
    );
  });
});
