import { lookup } from 'node:dns/promises';
import { hostname } from 'node:os';
import type { Clock } from '../core/clock.js';
import { within } from '../core/internal/timers.js';

/** The most time that the name service gets, in ms: the data is only for people who look at the nodes. */
const PATIENCE = 1_000;

/** Address of this host as text: the data of lock nodes, as Curator writes it. Empty where the name does not resolve. */
export async function localAddress(clock: Clock): Promise<Buffer> {
  let data = Buffer.alloc(0);
  const found = lookup(hostname()).then(
    ({ address }) => void (data = Buffer.from(address)),
    () => {},
  );
  await within(PATIENCE, clock, found);
  return data;
}
