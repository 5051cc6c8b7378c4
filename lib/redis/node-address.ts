import { isClient } from './drivers.js';
import type { NodeRedisOptions } from './node-redis/node-redis.js';

/** What is read of the options of a client, whichever its driver. */
interface NodeOptions extends NodeRedisOptions {
  /** Of node-redis; what it says overrides the `socket`. */
  readonly url?: unknown;
  readonly host?: string;
  readonly port?: number;
  readonly path?: string;
  readonly sentinels?: unknown;
  readonly sentinelRootNodes?: unknown;
}

/** Value that distinguishes the servers of a RedLock; the address of a server behind Sentinels is not known yet. */
export function addressOf(node: unknown): unknown {
  if (typeof node === 'string') return addressIn(node);
  const options = (isClient(node) ? Reflect.get(node, 'options') : node) as NodeOptions;
  if (options.sentinels || options.sentinelRootNodes) return node;
  const { host = 'localhost', port = 6379, path } = options.socket ?? options;
  if (typeof options.url === 'string') return addressIn(options.url, port);
  return path ?? `${host}:${port}`;
}

/** A URL that the driver will refuse distinguishes its server as it is. */
function addressIn(url: string, defaultPort = 6379): string {
  if (!URL.canParse(url)) return url;
  const { hostname, port, pathname } = new URL(url);
  return hostname === '' ? pathname : `${hostname}:${port || defaultPort}`;
}
