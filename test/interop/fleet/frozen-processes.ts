import { Deferred } from '../../support/deferred.js';
import { eventually } from '../../support/eventually.js';
import type { Accident } from './accident.js';
import type { Scene } from './scene.js';

/**
 * One process after the other is frozen, as a holder, until the servers have ended its hold and the others went on; then it
 * continues as if nothing had happened.
 */
export function frozenProcesses(...victims: readonly string[]): Accident {
  return {
    name: 'frozen process',
    async happen(scene) {
      for (const victim of victims) await freeze(victim, scene);
    },
  };
}

async function freeze(victim: string, scene: Scene): Promise<void> {
  const { ground, history, observer, path, peers } = scene;
  const peer = peers.get(victim)!;
  await eventually('all have had their turn', () => history.hasServedAll(), { within: 30_000 });

  // It is frozen while it waits for its begin to be recorded, so certainly as a holder.
  const [inside, thawed] = [new Deferred(), new Deferred()];
  observer.interpose({
    afterBegin: (worker) => {
      if (worker !== victim) return;
      inside.resolve();
      return thawed.promise;
    },
  });
  await inside.promise;
  const haveEnded = await ground.holdsOf(peer, path);
  peer.freeze();

  // A begin meanwhile is correct if the servers have ended the hold by then.
  let isOver = false;
  observer.interpose({
    beforeBegin: async () => {
      if (isOver || !(await haveEnded())) return;
      isOver = true;
      history.holdEnded(victim);
    },
  });
  await eventually('its hold has ended', () => isOver, { within: 60_000 });
  observer.interpose({});
  const others = new Map(history.grants).set(victim, -1);
  await eventually('the others go on', () => history.hasServedAll(others), { within: 30_000 });

  peer.thaw();
  thawed.resolve();
  const then = new Map(history.grants);
  await eventually('all go on', () => history.hasServedAll(then), { within: 30_000 });
}
