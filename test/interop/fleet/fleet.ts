import { eventually } from '../../support/eventually.js';
import type { Peer } from '../support/peer.js';
import type { Accident } from './accident.js';
import { FleetObserver } from './fleet-observer.js';
import type { FleetReport } from './fleet-report.js';
import type { Ground } from './ground.js';
import { History } from './history.js';
import type { Recipe } from './recipe.js';

/** Number of processes of each language. */
const SIZE = 4;

/** Node and Java processes that contend for the same locks, each with one worker. */
export class Fleet<G extends Ground> {
  private runs = 0;

  private constructor(
    private readonly ground: G,
    private readonly peers: ReadonlyMap<string, Peer>,
  ) {}

  /** Resolves when all of them are connected. */
  static async start<G extends Ground>(ground: G): Promise<Fleet<G>> {
    const peers = new Map<string, Peer>();
    for (let n = 1; n <= SIZE; n++) {
      peers.set(`node${n}`, await ground.startPeer('node'));
      peers.set(`java${n}`, await ground.startPeer('java'));
    }
    return new Fleet(ground, peers);
  }

  /** Lets all of them work with one lock until the accident is over. */
  async run(recipe: Recipe, accident: Accident<G>): Promise<FleetReport> {
    const { ground, peers } = this;
    const before = await ground.traces();
    const path = await ground.prepare(recipe, ++this.runs);
    const locks = new Map([...peers.keys()].map((name, n) => [name, recipe.lock(path, n >> 1)]));
    const history = new History(recipe, locks);
    const observer = await FleetObserver.start(history);
    const work = [...peers].map(([name, peer]) =>
      peer.actor().work(locks.get(name)!, observer.port, name),
    );
    await Promise.race([
      accident.happen({ ground, peers, path, history, observer }),
      Promise.all(work), // rejects when one of them dies
    ]);
    await Promise.all([...peers.values()].map((peer) => peer.actor().rest()));
    const failures = await Promise.all(work);
    await observer.stop();
    return {
      recipe: recipe.name,
      accident: accident.name,
      grants: Object.fromEntries(
        [...locks.keys()].map((name) => [name, history.grants.get(name) ?? 0]),
      ),
      faults: history.faults,
      losses: history.losses,
      failures: failures.reduce((sum, count) => sum + count, 0),
      before,
      after: await this.tracesOnceAs(before),
    };
  }

  /** Ends all processes. */
  async stop(): Promise<void> {
    await Promise.all([...this.peers.values()].map((peer) => peer.stop()));
    await this.ground.close();
  }

  /** Reads what the fleet leaves behind, which takes a while to disappear; resolves to the last reading if it does not. */
  private async tracesOnceAs(before: string): Promise<string> {
    let seen = '';
    const isClean = async () => {
      await this.ground.clear();
      seen = await this.ground.traces();
      return seen === before;
    };
    return eventually('nothing is left behind', isClean).then(
      () => seen,
      () => seen,
    );
  }
}
