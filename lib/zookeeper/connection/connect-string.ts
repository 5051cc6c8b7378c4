import { isIPv6 } from 'node:net';
import { LockOptionsError } from '../../core/errors/index.js';
import type { ServerAddress } from './server-address.js';
import { isCanonicalPath } from './znode-path.js';

const DEFAULT_PORT = 2181;
const SERVER = /^(?:\[(?<ipv6>[^\]]+)\]|(?<host>[\p{L}\p{N}._-]+))(?::(?<port>\d{1,5}))?$/u;

/** The parts of a connect string. */
export interface ConnectString {
  readonly servers: readonly ServerAddress[];
  /** Prefix of every path, without a trailing slash; empty: none. */
  readonly chroot: string;
}

/**
 * Reads `host:port,host:port/chroot`: names, IPv4, IPv6 in brackets; the port is 2181 unless given.
 *
 * @throws LockOptionsError
 */
export function parseConnectString(connect: unknown, client?: string): ConnectString {
  const expected =
    "servers as 'host:port,host:port', with a chroot such as '/app' behind them if there is one";
  const refuse = () => new LockOptionsError('connect', connect, expected, { client });
  if (typeof connect !== 'string') throw refuse();
  const slash = connect.indexOf('/');
  const chroot = slash < 0 ? '' : connect.slice(slash).replace(/^\/$/, '');
  const isPerServer = chroot.includes(','); // 'zk1/app,zk2/app': taken for a path, this would name another directory
  if (chroot !== '' && (isPerServer || !isCanonicalPath(chroot))) throw refuse();
  const servers = (slash < 0 ? connect : connect.slice(0, slash)).split(',').map((text) => {
    const { ipv6, host, port = String(DEFAULT_PORT) } = SERVER.exec(text.trim())?.groups ?? {};
    const name = ipv6 ?? host;
    if (name === undefined || Number(port) < 1 || Number(port) > 65_535) throw refuse();
    if (ipv6 !== undefined && !isIPv6(ipv6)) throw refuse();
    return { host: name, port: Number(port) };
  });
  return { servers, chroot };
}
