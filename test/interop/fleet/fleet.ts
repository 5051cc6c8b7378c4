import { setTimeout as delay } from 'node:timers/promises';
import { Deferred, eventually } from '../../support/time.js';
import type { Peer } from '../support/peer.js';
import { type Ground, tracesOnceAs, type ZooKeeperGround } from './grounds.js';
import { History } from './history.js';
import { FleetObserver } from './observers.js';
import type { Recipe } from './recipes.js';

/** Result of one run of the fleet. */
export interface FleetReport {
  readonly recipe: string;
  readonly accident: string;
  /** Number of grants by worker. */
  readonly grants: Readonly<Record<string, number>>;
  /** Overlaps, grants out of order, stale leases, as text. */
  readonly faults: readonly string[];
  /** How often a lease reported to its holder that the lock was lost. */
  readonly losses: number;
  /** How often a library threw: the connection was lost, and its retries did not help. */
  readonly failures: number;
  /** What locks left on the servers. */
  readonly before: string;
  readonly after: string;
}

/** What accidents affect. */
export interface Scene<G extends Ground = Ground> {
  readonly ground: G;
  /** The processes of the fleet, by the names of their workers. */
  readonly peers: ReadonlyMap<string, Peer>;
  /** Path or name of the lock. */
  readonly path: string;
  readonly history: History;
  readonly observer: FleetObserver;
}

/** An accident on that ground while the fleet works. */
export interface Accident<G extends Ground = Ground> {
  readonly name: string;
  /** Resolves when the fleet may rest. */
  happen(scene: Scene<G>): Promise<void>;
}

/** Node and Java processes that contend for the same locks, each with one worker. */
export class Fleet<G extends Ground> {
  private runs = 0;

  private constructor(
    private readonly ground: G,
    private readonly peers: ReadonlyMap<string, Peer>,
  ) {}

  /**
   * Resolves when all of them are connected.
   *
   * @param size number of processes of each language
   */
  static async start<G extends Ground>(ground: G, size: number): Promise<Fleet<G>> {
    const peers = new Map<string, Peer>();
    for (let n = 1; n <= size; n++) {
      const starts = [ground.startPeer('node'), ground.startPeer('java')];
      const [node, java] = await Promise.all(starts);
      peers.set(`node${n}`, node!).set(`java${n}`, java!);
    }
    return new Fleet(ground, peers);
  }

  /** All processes; the languages take turns. */
  get all(): readonly Peer[] {
    return [...this.peers.values()];
  }

  /** Lets all of them work with one lock until the accident is over. */
  async run(recipe: Recipe, accident: Accident<G>): Promise<FleetReport> {
    const { ground, peers } = this;
    const before = await ground.traces();
    const path = await ground.prepare(recipe, ++this.runs);
    const locks = new Map(
      [...peers.keys()].map((name, n) => [name, recipe.lock(path, n >> 1, peers.size)]),
    );
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
      after: await tracesOnceAs(before, ground),
    };
  }

  /** Ends all processes. */
  async stop(): Promise<void> {
    await Promise.all([...this.peers.values()].map((peer) => peer.stop()));
    await this.ground.close();
  }
}

/** A report in one line, unless there is more to report. */
export function fleetLine(ground: string, report: FleetReport): string {
  const { recipe, accident, grants, faults, losses, failures, before, after } = report;
  const counts = Object.entries(grants).map(([worker, count]) => `${worker} ${count}`);
  const sum = Object.values(grants).reduce((a, b) => a + b, 0);
  return [
    `${ground}, ${recipe}, ${accident}:`.padEnd(45),
    `${sum} grants (${counts.join(', ')})`,
    `${faults.length} faults${faults.map((fault) => `\n  ${fault}`).join('')}`,
    `${losses} lost, ${failures} failed`,
    before === after ? 'nothing left behind' : `LEFT BEHIND:\n${before}\nNOW\n${after}`,
  ].join(' | ');
}

/** True if there is no fault, all workers were served, and nothing is left behind. */
export function isSound({ faults, grants, before, after }: FleetReport): boolean {
  return (
    faults.length === 0 && Object.values(grants).every((count) => count > 0) && before === after
  );
}

/** Nothing happens until all were served that often. */
export function untilServed(times: number): Accident {
  return {
    name: 'no accident',
    async happen({ history, peers }) {
      const then = new Map([...peers.keys()].map((name) => [name, times - 1]));
      const isOver = () => history.hasServedAll(then);
      await eventually(`all were served ${times} times`, isOver, { within: 60_000 });
    },
  };
}

/** Nothing happens for that many ms. */
export function noAccident(duration: number): Accident {
  return { name: 'no accident', happen: () => delay(duration) };
}

/** That many times a server is killed and restarted, the leader and a follower in turn, one every `interval` ms. */
export function killedServers(kills: number, interval: number): Accident<ZooKeeperGround> {
  return {
    name: 'killed servers',
    async happen({ ground: { ensemble }, history }) {
      for (let n = 0; n < kills; n++) {
        const leader = await ensemble.leader();
        const victim = n % 2 === 0 ? leader : ensemble.servers.find((server) => server !== leader)!;
        await Promise.all([delay(interval), victim.kill().then(() => victim.restart())]);
        const then = new Map(history.grants);
        await eventually('the fleet goes on', () => history.hasServedAll(then), { within: 30_000 });
      }
    },
  };
}

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
