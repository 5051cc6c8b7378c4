import { isIP } from 'node:net';
import { connect, createSecureContext, type ConnectionOptions, type TLSSocket } from 'node:tls';
import type { ServerAddress } from '../connection/server-list.js';

/** How connections are encrypted, as in `node:tls`. `{}` trusts the authorities that Node does. */
export interface ZooKeeperTlsOptions {
  /** Certificates of the authorities that may have signed that of a server, as PEM. */
  readonly ca?: ConnectionOptions['ca'];
  /** Certificate of this client, as PEM, where the servers want one. */
  readonly cert?: ConnectionOptions['cert'];
  /** Its private key, as PEM. */
  readonly key?: string | Buffer | undefined;
  /** Passphrase of the key. */
  readonly passphrase?: string | undefined;
  /**
   * Name that the certificate of every server has to contain.
   *
   * @default the host of the server in `connect`
   */
  readonly servername?: string | undefined;
  /**
   * Whether a server has to prove its name by a certificate of a trusted authority. Without that, anybody on the way can read
   * and change everything.
   *
   * @default true
   */
  readonly rejectUnauthorized?: boolean | undefined;
}

/** Names of all options of TLS: a misspelt one must not leave a server unproven, or a client without its certificate. */
const TLS: Readonly<Record<keyof ZooKeeperTlsOptions, true>> = {
  ca: true,
  cert: true,
  key: true,
  passphrase: true,
  rejectUnauthorized: true,
  servername: true,
};

/** Whether connections can be made with these options. */
export function isTls(tls: ZooKeeperTlsOptions | null): boolean {
  if (typeof tls !== 'object' || tls === null) return false;
  if (!Object.keys(tls).every((name) => Object.hasOwn(TLS, name))) return false;
  const { servername = '', rejectUnauthorized = true, cert, key } = tls;
  if (typeof servername !== 'string' || typeof rejectUnauthorized !== 'boolean') return false;
  if ((cert === undefined) !== (key === undefined)) return false;
  // OpenSSL passes over what is no certificate, such as the path of one.
  if (![tls.ca ?? []].flat().every((pem) => pem.toString().includes('-----BEGIN'))) return false;
  try {
    tlsSockets(tls);
    return true;
  } catch {
    return false;
  }
}

/** Opens a socket on which nothing is sent before the server has proven its name. */
export type OpenTlsSocket = (address: ServerAddress) => TLSSocket;

/** @throws if a certificate or the key cannot be read, or they do not belong together */
export function tlsSockets(options: ZooKeeperTlsOptions): OpenTlsSocket {
  const { ca, cert, key, passphrase, servername, rejectUnauthorized = true } = options;
  const secureContext = createSecureContext({ ca, cert, key, passphrase });
  return ({ host, port, name = host }) =>
    connect({
      host,
      port,
      secureContext,
      rejectUnauthorized,
      servername: servername ?? (isIP(name) ? undefined : name),
    });
}
