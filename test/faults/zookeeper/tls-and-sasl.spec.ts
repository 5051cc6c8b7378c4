import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connect as connectTcp, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { AddressInfo } from 'node:net';
import { LockConnectionError } from '../../../lib/core/errors/index.js';
import { Permission } from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { createZooKeeperLockClient } from '../../../lib/zookeeper/create-zookeeper-lock-client.js';
import type { ZooKeeperLockClient } from '../../../lib/zookeeper/zookeeper-lock-client.js';
import type { ZooKeeperLockOptions } from '../../../lib/zookeeper/zookeeper-options.js';
import { type Certificate, CertificateAuthority } from '../../support/certificates.js';
import { useCleanup } from '../../support/fixtures.js';
import { freePorts } from '../../support/processes.js';
import { eventually } from '../../support/time.js';
import { ZooKeeperServer } from '../../support/zookeeper-server.js';

const JAAS = `Server {
  org.apache.zookeeper.server.auth.DigestLoginModule required
  user_ann="secret" user_bob="other \\"secret\\"" user_cyd="pässwort" user_dan="пароль" user_jürgen="ß";
};`;

describe('A ZooKeeper server that speaks TLS to known clients', () => {
  const cleanup = useCleanup();
  const authority = new CertificateAuthority();
  const stranger = new CertificateAuthority();
  let server: ZooKeeperServer;
  let port: number;
  let client: Certificate;

  beforeAll(async () => {
    port = (await freePorts(1, '127.0.0.1'))[0]!;
    client = authority.sign('app');
    server = await ZooKeeperServer.start({
      config: {
        secureClientPort: port,
        secureClientPortAddress: '127.0.0.1',
        serverCnxnFactory: 'org.apache.zookeeper.server.NettyServerCnxnFactory',
        'ssl.keyStore.location': authority.sign('zk', ['DNS:localhost', 'IP:127.0.0.1']).file,
        'ssl.trustStore.location': authority.file,
        'authProvider.1': 'org.apache.zookeeper.server.auth.SASLAuthenticationProvider',
      },
      jvmArgs: [`-Djava.security.auth.login.config=${authority.write('jaas.conf', JAAS)}`],
    });
  }, 60_000);
  afterAll(async () => {
    authority.stop();
    stranger.stop();
    await server.stop();
  });

  const make = async (options: Partial<ZooKeeperLockOptions>): Promise<ZooKeeperLockClient> => {
    const connect = `127.0.0.1:${port}`;
    const made = await createZooKeeperLockClient('tls', {
      connect,
      connectTimeout: 20_000,
      ...options,
    });
    return cleanup(made, (it) => it.close());
  };
  const known = () => ({ ca: authority.cert, cert: client.cert, key: client.key });
  /** Why a client cannot connect; a busy server needs longer to say so. */
  const refusal = async (
    options: Partial<ZooKeeperLockOptions>,
    connectTimeout = 1_500,
  ): Promise<string> => {
    const refused = await make({ connectTimeout, ...options });
    const error: unknown = await refused.connect().catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(LockConnectionError);
    const { message } = error as Error;
    const isUnheard = message.includes('no server has answered') && connectTimeout < 10_000;
    return isUnheard ? await refusal(options, 4 * connectTimeout) : message;
  };

  it('has locks for a client with a certificate, by its address and by its name', async () => {
    for (const host of ['127.0.0.1', 'localhost']) {
      const locks = await make({ connect: `${host}:${port}`, tls: known() });
      await locks.connect();
      await locks.mutex('seat').using(async (lease) => {
        expect(await lease.fencingToken()).toBeGreaterThan(0n);
      });
    }
  });

  it('knows a client by the certificate, which an access control list may name', async () => {
    const acl = [{ perms: Permission.ALL, scheme: 'x509', id: 'CN=app' }];
    const mine = await make({ tls: known(), acl, basePath: '/by-certificate' });
    await mine.connect();
    const lease = await mine.mutex('seat').acquire();
    const { cert, key } = authority.sign('eve');
    const eve = await make({
      tls: { ca: authority.cert, cert, key },
      basePath: '/by-certificate',
    });
    await eve.connect();
    await expect(eve.mutex('seat').tryAcquire()).rejects.toMatchObject({
      message: expect.stringContaining('NOAUTH'),
    });
    await lease.release();
  });

  it('is not trusted if another authority has signed its certificate', async () => {
    const reason = await refusal({ tls: { ...known(), ca: stranger.cert } });
    expect(reason).toMatch(/certificate/);
    expect(await refusal({ tls: { cert: client.cert, key: client.key } })).toMatch(/certificate/);
  });

  it('is not trusted under a name that is not in its certificate', async () => {
    const reason = await refusal({ tls: { ...known(), servername: 'zk.example' } });
    expect(reason).toContain("does not match certificate's altnames");
    const anyName = { ...known(), servername: 'zk.example', rejectUnauthorized: false };
    await (await make({ tls: anyName })).connect();
  });

  it('is not trusted if its certificate has expired', async () => {
    const { cert, key } = authority.sign('zk', ['IP:127.0.0.1'], 0);
    const proxy = createTlsServer({ cert, key }, (socket) => {
      const behind = connectTcp(server.port, '127.0.0.1');
      socket.on('error', () => {});
      behind.on('error', () => {});
      socket.pipe(behind).pipe(socket);
    }).listen(0, '127.0.0.1');
    cleanup(proxy, (it) => it.close());
    await eventually('it listens', () => proxy.listening);
    const connect = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    expect(await refusal({ connect, tls: { ca: authority.cert } })).toContain('expired');
    const tls = { ca: authority.cert, rejectUnauthorized: false };
    await (await make({ connect, tls })).connect(); // it was only the certificate
  });

  it.each([
    ['without a certificate', () => ({ ca: authority.cert })],
    ['with one that has expired', () => ({ ca: authority.cert, ...authority.sign('app', [], 0) })],
    ['with one of another authority', () => ({ ca: authority.cert, ...stranger.sign('app') })],
  ])('refuses a client %s', async (_, options) => {
    const { ca, cert, key } = options() as { ca: string } & Partial<Certificate>;
    await refusal({ tls: { ca, cert, key } });
  });

  it('never gets a byte in clear from a client that has TLS', async () => {
    const received: Buffer[] = [];
    const listener: Server = createServer((socket: Socket) => {
      socket.on('error', () => {});
      socket.on('data', (bytes) => {
        received.push(bytes);
        socket.end('this is not TLS');
      });
    }).listen(0, '127.0.0.1');
    cleanup(listener, (it) => it.close());
    await eventually('it listens', () => listener.listening);
    const connect = `127.0.0.1:${(listener.address() as AddressInfo).port}`;
    await refusal({ connect, tls: known(), auth: [{ scheme: 'digest', auth: 'ann:secret' }] });
    expect(received.length).toBeGreaterThan(1); // it has tried again
    expect(received.every((bytes) => bytes[0] === 22 && !bytes.includes('secret'))).toBe(true);
  });

  describe('and asks for SASL', () => {
    it.each([
      ['ann', 'secret'],
      ['bob', 'other "secret"'],
      ['cyd', 'pässwort'],
      ['dan', 'пароль'],
      ['jürgen', 'ß'],
    ])(
      'knows %s by the password, which an access control list may name',
      async (user, password) => {
        const mine = await make({
          tls: known(),
          sasl: { username: user, password },
          acl: [{ perms: Permission.ALL, scheme: 'sasl', id: user }],
          basePath: `/of-${user}`,
        });
        await mine.connect();
        await mine.mutex('seat').using(async () => {
          const without = await make({ tls: known(), basePath: `/of-${user}` });
          await without.connect();
          await expect(without.mutex('seat').tryAcquire()).rejects.toMatchObject({
            message: expect.stringContaining('NOAUTH'),
          });
        });
      },
    );

    it('keeps the session, and proves the user again, when the connection breaks', async () => {
      const acl = [{ perms: Permission.ALL, scheme: 'sasl', id: 'ann' }];
      const sasl = { username: 'ann', password: 'secret' };
      const mine = await make({ tls: known(), sasl, acl, basePath: '/kept' });
      await mine.connect();
      const states: string[] = [];
      mine.on('connection', ({ state }) => states.push(state));
      const lease = await mine.mutex('seat').acquire();
      await server.restart();
      await eventually('reconnected', () => states.includes('RECONNECTED'), { within: 20_000 });
      expect(lease.isHeld).toBe(true);
      await lease.release();
      await mine.mutex('seat').using(() => {});
    });

    it.each([
      ['ann', 'wrong'],
      ['nobody', 'wrong'],
    ])('refuses %s with the password %s', async (username, password) => {
      const reason = await refusal({ tls: known(), sasl: { username, password } });
      expect(reason).toContain('SASL refused, AUTHFAILED');
    });
  });
});

describe('A ZooKeeper server that demands SASL', () => {
  it('refuses a client without it, and says so', async () => {
    const authority = new CertificateAuthority();
    const server = await ZooKeeperServer.start({
      config: {
        'authProvider.1': 'org.apache.zookeeper.server.auth.SASLAuthenticationProvider',
        sessionRequireClientSASLAuth: 'true',
      },
      jvmArgs: [`-Djava.security.auth.login.config=${authority.write('jaas.conf', JAAS)}`],
    });
    const options = { connect: server.connectString, connectTimeout: 5_000 } as const;
    const sasl = { username: 'ann', password: 'secret' };
    const mine = await createZooKeeperLockClient('sasl', {
      ...options,
      connectTimeout: 20_000,
      sasl,
    });
    const without = await createZooKeeperLockClient('none', { ...options, driver: 'wire' });
    try {
      await mine.connect();
      await mine.mutex('seat').using(() => {});
      await expect(without.connect()).rejects.toMatchObject({
        message: expect.stringContaining('SESSIONCLOSEDREQUIRESASLAUTH'),
      });
    } finally {
      await mine.close();
      await without.close();
      await server.stop();
      authority.stop();
    }
  }, 60_000);
});
