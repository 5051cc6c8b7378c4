import { ZooKeeperServer } from '../support/zookeeper-server.js';
import { BareDriver, BareQueue } from './bare-driver.js';
import {
  buildCuratorPeer,
  type Contestant,
  CuratorContestant,
  OurContestant,
} from './contestants.js';
import { drivers } from './drivers.js';
import { handOff, uncontended } from './above-the-driver.js';
import { queues, recipes } from './beside-curator.js';
import type { Row } from './row.js';

/** All that is measured on one real server, in one run. */
export async function zookeeper(): Promise<Row[]> {
  const server = await ZooKeeperServer.start({ containerCheckIntervalMs: 3_600_000 });
  try {
    return [
      ...(await uncontended(server)),
      ...(await drivers(server)),
      ...(await handOff(server)),
      ...(await besidePeers(server)),
    ];
  } finally {
    await server.stop();
  }
}

async function besidePeers(server: ZooKeeperServer): Promise<Row[]> {
  const { connectString } = server;
  const contestants: { ours: Contestant; curator?: Contestant } = {
    ours: new OurContestant(connectString),
  };
  const build = buildCuratorPeer();
  if ('missing' in build) console.error(`Curator is left out: ${build.missing}`);
  else {
    console.error(`Curator ${build.release}`);
    contestants.curator = await CuratorContestant.start(connectString, build.classPath);
  }
  const bare = await BareDriver.connect(connectString);
  try {
    return [
      ...(await recipes(server, contestants)),
      ...(await queues(server, contestants, new BareQueue(bare))),
    ];
  } finally {
    bare.close();
    for (const contestant of Object.values(contestants)) await contestant.close();
  }
}
