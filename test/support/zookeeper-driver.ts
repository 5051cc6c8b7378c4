import { systemClock } from '../../lib/core/clock.js';
import { NativeTransport } from '../../lib/zookeeper/connection/native-transport.js';
import type { Transport } from '../../lib/zookeeper/connection/transport.js';
import { WireTransport } from '../../lib/zookeeper/wire/wire-transport.js';

export const drivers = ['native', 'wire'] as const;

/** What carries requests to a ZooKeeper server. */
export type Driver = (typeof drivers)[number];

/** The driver of tests that do not ask for one: `ZOOKEEPER_DRIVER`, else the native one. */
export const defaultDriver: Driver = process.env.ZOOKEEPER_DRIVER === 'wire' ? 'wire' : 'native';

/** A transport of that driver. */
export async function transportOf(driver: Driver = defaultDriver): Promise<Transport> {
  return driver === 'wire' ? new WireTransport({ clock: systemClock }) : NativeTransport.load();
}
