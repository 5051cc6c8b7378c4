import type { ZnodeTree } from '../../lib/embedded/znode-tree.js';
import { parentPath } from '../../lib/zookeeper/connection/znode-path.js';
import { Accidents } from './accidents.js';
import type { SimulatedClient } from './client.js';
import { Dice } from './dice.js';
import type { History } from './observer.js';
import { seedIds } from './seeded-ids.js';
import { Timing } from './timing.js';
import { World } from './world.js';

/** The longest that the users may continue after the last fault, in ms: only a bound, the observers have stricter ones. */
const LONGEST = 600_000;

/**
 * Runs the random schedule of a seed: the same seed, the same schedule.
 *
 * @throws when a promise is broken
 */
export type Schedule = (seed: number) => Promise<History>;

export interface ScheduleOptions {
  /** Whether the server may be one of an ensemble: not where an observer assumes that it is the only one. Default: yes. */
  readonly mayHaveFollowers?: boolean;
  /** Whether each client has a worker thread that keeps its session. Default: no. */
  readonly hasWorkers?: boolean;
  /** Whether users wait for one lock inside of another for as long as it takes. Default: no. */
  readonly hasDeadlocks?: boolean;
  /** The fewest and the most clients. Default: 2 to 5. */
  readonly clients?: readonly [fewest: number, most: number];
  /** The longest that a client keeps a lock that none of its users wants, in ms. Default: 0. */
  readonly longestKeep?: number;
}

/** The activities of the users of a world. */
export interface Play {
  /** Whether all users with live processes are done. They finish by themselves some time after `calm`. */
  isOver(): boolean;
  calm?(): void;
  victims?(): readonly SimulatedClient[];
}

/** The users of all clients. */
export class Company implements Play {
  /** Each user that is there, with its client. */
  readonly #inside = new Set<{ readonly client: SimulatedClient }>();

  constructor(private readonly world: World) {}

  /** A user comes, and lives until the promise is resolved. */
  add(client: SimulatedClient, life: Promise<void>): void {
    const user = { client };
    this.#inside.add(user);
    life.then(
      () => void this.#inside.delete(user),
      (error: Error) => this.world.history.accuse(`the code of a user fails: ${error.stack}`),
    );
  }

  /** The clients of the users that are there, as far as they have live processes. */
  get clients(): SimulatedClient[] {
    return [...this.#inside].flatMap(({ client }) => (client.process.isDead ? [] : [client]));
  }

  isOver(): boolean {
    return this.clients.length === 0;
  }
}

/**
 * One random schedule: clients and their users, and faults; then calm, in which everything comes to its end; then the clients
 * are closed, and nothing is left.
 *
 * @param begin starts users on all clients of the world; the faults last for `duration`
 */
export async function runSchedule(
  seed: number,
  begin: (world: World, dice: Dice, duration: number) => Play,
  options: ScheduleOptions = {},
): ReturnType<Schedule> {
  const {
    mayHaveFollowers = true,
    hasWorkers = false,
    hasDeadlocks = false,
    longestKeep = 0,
  } = options;
  const [fewest, most] = options.clients ?? [2, 5];
  seedIds(seed);
  const dice = new Dice(seed, seed % 2 === 0 ? 0 : 10); // in every other one, many things happen at the same time
  const world = new World({
    dice,
    isAsking: dice.chance(0.5),
    containerInterval: dice.pick([100, 1_000, 60_000]),
    hasFollowers: mayHaveFollowers && dice.chance(0.7),
    errorPolicy: hasWorkers ? 'session' : dice.pick(['session', 'standard']),
    hasWorkers,
    onDeadlock: hasDeadlocks ? dice.pick(['reject', 'reject', 'warn'] as const) : undefined,
  });
  const sessionTimeout = dice.pick([1_000, 1_000, 2_000]);
  for (let left = dice.integer(fewest, most); left > 0; left--)
    world.addClient(sessionTimeout * dice.pick([1, 1, 2]));
  const duration = 5 * sessionTimeout;
  const play = begin(world, dice, duration);

  const risk = dice.pick([0, 0.01, 0.05]);
  const accidents = new Accidents(world, dice, risk, () => play.victims?.() ?? []);
  accidents.begin(dice.integer(0, 8), duration);
  await world.pass(duration);
  accidents.end();
  const calm = Math.max(world.clock.now(), ...world.clients.map((it) => it.disturbedUntil));
  await world.pass(calm - world.clock.now());
  world.judge.calmSince = calm;
  world.history.note('calm');
  for (const count of world.counts) count.restore();
  play.calm?.();

  await world.until(() => play.isOver(), LONGEST);
  const isFree = () => [...world.queues.values()].every(({ first }) => first === undefined);
  const isClosedEarly = longestKeep > 0 && dice.chance(0.5);
  const latest = longestKeep + 2 * sessionTimeout + 2 * Timing.tick;
  if (!isClosedEarly) await world.until(isFree, latest); // the judge is stricter with connected clients
  await closeDown(world);
  return world.history;
}

/** Closes all clients of a world without faults, and looks for what they leave behind. @throws if there is anything */
export async function closeDown(world: World): Promise<void> {
  const { clients, history, judge, server, clock, observers } = world;
  const queues = [...world.queues.values()];
  const longestSession = Math.max(...clients.map(({ sessionTimeout }) => sessionTimeout));
  const expired = longestSession + 2 * Timing.tick;
  const alive = clients.filter(({ process }) => !process.isDead);
  const isUp = ({ connection }: SimulatedClient) =>
    connection.state === 'CLOSED' || connection.isConnected;
  await world.until(() => alive.every(isUp)); // the judge knows how long that may take
  await world.wait(Promise.all(alive.map((client) => client.close())), 10 * Timing.latency);
  await world.pass(Timing.watchAfter + 10 * Timing.latency);
  for (const { name, process, userTimers } of alive)
    if (process.pendingTimers > 0)
      history.accuse(`${name} leaves ${process.pendingTimers} timers (${userTimers} of users)`);

  await world.pass(expired);
  for (const { first } of queues) if (first) history.accuse(`${first.path} is left`);
  for (const observer of [...queues, ...observers]) observer.stop();
  const watchCount = server.tree.watchCount + (world.ensemble?.watchCount ?? 0);
  if (watchCount > 0) history.accuse(`${watchCount} watches are left on the server`);
  await clock.runUntil(() => clock.isIdle, 10 * 60_000); // except for containers, there is nothing left to do
  const isThere = (path: string) => server.tree.get(path) !== undefined;
  const exchange = EXCHANGE.flatMap(upwards).filter(isThere);
  const directories = new Set([
    ...queues.flatMap(({ directory }) => upwards(directory)),
    ...exchange,
  ]);
  const lasting = observers.reduce((sum, observer) => sum + observer.lasting, 0);
  if (server.tree.size > directories.size + lasting) {
    const left = pathsUnder('/', server.tree).filter((path) => !directories.has(path));
    history.accuse(`there is more than directories left: ${left.join()}`);
  }
  judge.check();
}

/** Where clients ask each other for deadlocks: those that never hear an answer leave both, or what is above them. */
const EXCHANGE = ['ask', 'processes'].map((name) => `/nestjs-interlock/deadlocks/%2Flocks/${name}`);

function pathsUnder(path: string, tree: ZnodeTree): string[] {
  const children = [...tree.get(path)!.children].map(
    (name) => `${path === '/' ? '' : path}/${name}`,
  );
  return [path, ...children.flatMap((child) => pathsUnder(child, tree))];
}

function upwards(directory: string): string[] {
  return directory === '/' ? ['/'] : [directory, ...upwards(parentPath(directory))];
}
