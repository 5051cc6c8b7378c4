import { systemClock } from '../core/clock.js';
import { NativeTransport } from './connection/native-transport.js';
import type { Transport } from './connection/transport.js';
import type { ZooKeeperSaslOptions } from './wire/digest-md5.js';
import type { ZooKeeperTlsOptions } from './wire/tls-options.js';
import { WireTransport } from './wire/wire-transport.js';

/** What carries requests to the servers: the npm package `zookeeper`, or this library's own link over a socket of Node. */
export type ZooKeeperDriver = 'native' | 'wire';

/** The options of a client that its driver depends on. */
export interface DriverOptions {
  readonly driver?: ZooKeeperDriver | undefined;
  readonly tls?: ZooKeeperTlsOptions | undefined;
  readonly sasl?: ZooKeeperSaslOptions | undefined;
}

/**
 * Makes the transport of the driver that was asked for; otherwise the native driver's, where that can be loaded and do what is
 * asked for.
 *
 * Rejects with `LockConnectionError` if the native driver is asked for, and cannot be loaded.
 */
export async function makeTransport(
  { driver, tls, sasl }: DriverOptions,
  client: string,
): Promise<Transport> {
  const wire = () => new WireTransport({ clock: systemClock, tls, sasl });
  if (driver === 'wire' || tls !== undefined || sasl !== undefined) return wire();
  const native = NativeTransport.load(client);
  return driver === 'native' ? await native : await native.catch(wire);
}
