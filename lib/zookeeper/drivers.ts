import { systemClock } from '../core/clock.js';
import { NativeTransport } from './connection/native-transport.js';
import type { Transport } from './connection/transport.js';
import { WireTransport } from './wire/wire-transport.js';

/** What carries requests to the servers: the npm package `zookeeper`, or this library's own link over a socket of Node. */
export type ZooKeeperDriver = 'native' | 'wire';

/**
 * Makes the transport of that driver; without one, the native driver's where it can be loaded.
 *
 * Rejects with `LockConnectionError` if the native driver is asked for, and cannot be loaded.
 */
export async function makeTransport(
  driver: ZooKeeperDriver | undefined,
  client: string,
): Promise<Transport> {
  const wire = () => new WireTransport({ clock: systemClock });
  if (driver === 'wire') return wire();
  const native = NativeTransport.load(client);
  return driver === 'native' ? await native : await native.catch(wire);
}
