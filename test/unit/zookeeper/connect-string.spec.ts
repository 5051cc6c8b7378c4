import { describe, expect, it } from '@jest/globals';
import { LockOptionsError } from '../../../lib/core/errors/index.js';
import { parseConnectString } from '../../../lib/zookeeper/connection/server-list.js';

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
