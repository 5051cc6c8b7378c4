import { afterAll, beforeAll } from '@jest/globals';
import { systemClock } from '../../lib/core/clock.js';
import { NativeTransport } from '../../lib/zookeeper/connection/native-transport.js';
import type { Transport } from '../../lib/zookeeper/connection/transport.js';
import { WireTransport } from '../../lib/zookeeper/wire/wire-transport.js';

export const drivers = ['native', 'wire'] as const;

/** What carries requests to a ZooKeeper server. */
export type Driver = (typeof drivers)[number];

/** The driver of tests that do not ask for one: `ZOOKEEPER_DRIVER`, else the native one. */
export const defaultDriver: Driver = process.env.ZOOKEEPER_DRIVER === 'wire' ? 'wire' : 'native';

let chosen = defaultDriver;

/** Has the tests of a file use that driver, unless they ask for another. */
export function useDriver(driver: Driver): void {
  beforeAll(() => void (chosen = driver));
  afterAll(() => void (chosen = defaultDriver));
}

/** A transport of that driver. */
export async function transportOf(driver: Driver = chosen): Promise<Transport> {
  return driver === 'wire' ? new WireTransport({ clock: systemClock }) : NativeTransport.load();
}
