import { Deferred } from '../../support/deferred.js';
import { eventually } from '../../support/eventually.js';
import { znodesBelow } from '../support/znodes-below.js';
import type { Accident } from './accident.js';
import type { Scene } from './scene.js';
import type { ZooKeeperGround } from './zookeeper-ground.js';

/**
 * One process after the other stands still, as a holder, until its session has ended and the others went on; then it goes
 * on as if nothing had happened.
 */
export function frozenProcesses(...victims: readonly string[]): Accident<ZooKeeperGround> {
  return {
    name: 'frozen process',
    async happen(scene) {
      for (const victim of victims) await freeze(victim, scene);
    },
  };
}

async function freeze(victim: string, scene: Scene<ZooKeeperGround>): Promise<void> {
  const { history, observer, peers } = scene;
  const peer = peers.get(victim)!;
  const session = await peer.actor().session();
  await eventually('all have had their turn', () => history.hasServedAll(), { within: 30_000 });

  // It is frozen while it waits for its begin to be written down, so certainly inside.
  const [inside, thawed] = [new Deferred(), new Deferred()];
  observer.interpose({
    afterBegin: (worker) => {
      if (worker !== victim) return;
      inside.resolve();
      return thawed.promise;
    },
  });
  await inside.promise;
  peer.freeze();
  const nodes = await nodesOf(session, scene);

  // Whoever begins meanwhile does so rightly if the servers have ended the session by then.
  let hasEnded = false;
  observer.interpose({
    beforeBegin: async () => {
      if (hasEnded || !(await areGone(nodes, scene))) return;
      hasEnded = true;
      history.sessionEnded(victim);
    },
  });
  await eventually('its session has ended', () => hasEnded, { within: 60_000 });
  observer.interpose({});
  const others = new Map(history.grants).set(victim, -1);
  await eventually('the others go on', () => history.hasServedAll(others), { within: 30_000 });

  peer.thaw();
  thawed.resolve();
  const then = new Map(history.grants);
  await eventually('all go on', () => history.hasServedAll(then), { within: 30_000 });
}

async function nodesOf(session: string, scene: Scene<ZooKeeperGround>): Promise<string[]> {
  const { stranger } = scene.ground;
  const nodes = await znodesBelow(scene.path, stranger.connection);
  const stats = await Promise.all(nodes.map((node) => stranger.connection.exists(node)));
  return nodes.filter((_, i) => stats[i]?.ephemeralOwner === session);
}

async function areGone(
  nodes: readonly string[],
  { ground: { stranger }, path }: Scene<ZooKeeperGround>,
): Promise<boolean> {
  await stranger.connection.sync(path);
  const stats = await Promise.all(nodes.map((node) => stranger.connection.exists(node)));
  return stats.every((stat) => stat === undefined);
}
