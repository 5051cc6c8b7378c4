import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { createClient } from 'redis';
import { createClient as createClient5 } from 'redis5';
import { LockConnectionError } from '../../lib/core/errors/index.js';
import type { RedisLockOptions } from '../../lib/redis/redis-options.js';
import { CertificateAuthority } from '../support/certificates.js';
import { useRedis } from '../support/fixtures.js';
import { tier } from '../support/tier.js';
import { AT_ONCE, contended, useClients } from './support/clients.js';

/** A name that the address of the server does not have. */
const NAME = 'redis.example';

interface TlsOptions {
  readonly ca: string;
  readonly cert?: string;
  readonly key?: string;
  readonly servername?: string;
}

const server = useRedis();
const authority = new CertificateAuthority();
const own = authority.sign('app');
const known = { ca: authority.cert, cert: own.cert, key: own.key, servername: NAME };
let front: Server;
/** What the server knows of each connection: the name that was asked for, and who asks. */
const seen = new Set<string>();

beforeAll(async () => {
  const { cert, key } = authority.sign('redis', [`DNS:${NAME}`]);
  const settings = { cert, key, ca: authority.cert, requestCert: true, rejectUnauthorized: true };
  front = createServer(settings, (socket) => {
    seen.add(`${String(socket.servername)} ${socket.getPeerCertificate().subject.CN as string}`);
    passOn(socket);
  });
  await once(front.listen(0, '127.0.0.1'), 'listening');
});
afterAll(() => {
  authority.stop();
  front.close();
});
beforeEach(() => seen.clear());

/** To the server behind, which speaks no TLS. */
function passOn(socket: TLSSocket): void {
  const behind = connect(server().port, server().host);
  for (const each of [socket, behind]) each.on('error', () => {});
  socket.on('close', () => behind.destroy());
  behind.on('close', () => socket.destroy());
  socket.pipe(behind).pipe(socket);
}

const address = () => ({ host: '127.0.0.1', port: (front.address() as AddressInfo).port });
const socketOf = (tls: TlsOptions) => ({ socket: { ...address(), tls: true as const, ...tls } });

const { connected } = useClients();

const BY: Record<string, (tls: TlsOptions) => RedisLockOptions> = {
  ioredis: (tls) => ({ connect: { ...address(), ...AT_ONCE, tls } }),
  'a client of ioredis': (tls) => ({
    client: new Redis({ ...address(), ...AT_ONCE, tls, lazyConnect: true }),
  }),
  'node-redis': (tls) => ({ connect: socketOf(tls), driver: 'node-redis' }),
  'a client of node-redis 6': (tls) => ({ client: createClient(socketOf(tls)) }),
  ...(tier === 'long' && {
    'a client of node-redis 5': (tls) => ({ client: createClient5(socketOf(tls)) }),
  }),
};

describe.each(Object.entries(BY))('By %s, a server that speaks TLS', (_, optionsOf) => {
  it('is known by the name that was given, and knows the client by its certificate', async () => {
    const [mine, theirs] = [await connected(optionsOf(known)), await connected(optionsOf(known))];
    const lease = await mine.mutex('seat').acquire();
    const waits = contended(theirs);
    const waiting = theirs.mutex('seat').acquire();
    await waits;
    await lease.release();
    await (await waiting).release();
    expect([...seen]).toEqual([`${NAME} app`]);
  });

  it('is not trusted under a name that is not in its certificate, and refuses strangers', async () => {
    const refusals = [
      { ...known, servername: 'other.example' },
      { ca: authority.cert, servername: NAME },
    ].map((tls) =>
      connected({ ...optionsOf(tls), connectTimeout: 1_000 }).catch((error: unknown) => error),
    );
    const [wrongName, stranger] = await Promise.all<unknown>(refusals);
    expect(wrongName).toBeInstanceOf(LockConnectionError);
    expect((wrongName as Error).message).toContain("does not match certificate's altnames");
    expect(stranger).toBeInstanceOf(LockConnectionError);
    expect([...seen]).toEqual([]);
  });
});
