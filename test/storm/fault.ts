import { setTimeout as delay } from 'node:timers/promises';
import type { ZooKeeperEnsemble } from '../support/zookeeper-ensemble.js';
import type { ZooKeeperServer } from '../support/zookeeper-server.js';

/** A fault of the servers. */
export interface Fault {
  readonly name: string;
  /** Whether the client must lose its connection by it. */
  readonly breaks: boolean;
  /** The server that it affects. */
  victim(ensemble: ZooKeeperEnsemble, session: string): Promise<ZooKeeperServer | undefined>;
  begin(victim: ZooKeeperServer): Promise<unknown> | void;
  end(victim: ZooKeeperServer): Promise<unknown> | void;
}

const ownServer: Fault['victim'] = (ensemble, session) => ensemble.serverOf(session);
const killing = {
  breaks: true,
  begin: (victim: ZooKeeperServer) => victim.kill(),
  end: (victim: ZooKeeperServer) => victim.restart(),
};
const kill: Fault = { name: 'kill', victim: ownServer, ...killing };
const killLeader: Fault = {
  name: 'kill leader',
  victim: (ensemble) => ensemble.leader(),
  ...killing,
};
const freeze = (seconds: number, breaks: boolean): Fault => ({
  name: `freeze ${seconds} s`,
  breaks,
  victim: ownServer,
  begin: (victim) => {
    victim.freeze();
    return delay(seconds * 1_000);
  },
  end: (victim) => victim.thaw(),
});

/** The faults of one round of the storm. */
export const FAULTS: readonly Fault[] = [
  kill,
  kill,
  freeze(1, false),
  kill,
  freeze(5, true),
  killLeader,
];
