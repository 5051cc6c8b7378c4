import { ZooKeeperServer } from '../support/zookeeper-server.js';
import { handOff } from './hand-off.js';
import type { Row } from './row.js';
import { uncontended } from './uncontended.js';

/** All that is measured on one real server, in one run. */
export async function zookeeper(): Promise<Row[]> {
  const server = await ZooKeeperServer.start({ containerCheckIntervalMs: 3_600_000 });
  try {
    return [...(await uncontended(server)), ...(await handOff(server))];
  } finally {
    await server.stop();
  }
}
