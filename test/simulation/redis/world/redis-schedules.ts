import { Dice } from '../../dice.js';
import type { History } from '../../observer.js';
import { Timing } from '../../timing.js';
import { LuaMachine } from '../lua/lua-machine.js';
import { leftovers } from './leftovers.js';
import { mutex, type ObservedLock, readWriteLock, semaphore } from './observed-locks.js';
import { Plan } from './plan.js';
import { RedisAccidents } from './redis-accidents.js';
import type { RedisProcess } from './redis-process.js';
import { type Nature, RedisUser } from './redis-user.js';
import { RedisWorld } from './redis-world.js';
import { seedIds } from './seeded-ids.js';

/** The longest that users may go on after the last fault, in ms: only a bound, the judge is stricter. */
const LONGEST = 600_000;

/** Of a command, that its connection breaks while it is under way. */
const RISKS = [0, 0.005, 0.02, 0.05];

/** Compiled scripts are kept. */
const machine = new LuaMachine();

/** What one schedule is about. */
interface Plot {
  readonly nature?: Partial<Nature>;
  /** Whether there are many clients, with one user each. Default: few, with one or two users. */
  readonly isCrowd?: boolean;
  readonly locks: (dice: Dice) => readonly ObservedLock[];
  /** The most users of one client; default: 2. */
  readonly usersOfClient?: number;
  /** Takes a lock from its holders, as an operator. */
  readonly takeAway?: (client: RedisProcess, lock: ObservedLock) => Promise<unknown>;
}

const USUAL: Nature = {
  restlessness: 0.3,
  impatience: 0,
  diligence: 0,
  pauses: [0, 20, 200, 2_000],
};
/** Those that give up stay away: they do not take what others should be woken for. */
const IMPATIENT: Partial<Nature> = { impatience: 0.4, pauses: [3_000] };

const some = (dice: Dice) => dice.pick([['a'], ['a'], ['a', 'b']]);
const force = ({ locks }: RedisProcess, { name }: ObservedLock, fair: boolean) =>
  locks.mutex(name.redisKey, { fair, fenced: true }).forceUnlock();

/** The random schedules of each kind of lock. */
export const PLOTS = {
  mutex: {
    locks: (dice) => some(dice).map((key) => mutex(key)),
    takeAway: (client, lock) => force(client, lock, false),
  },
  'fair mutex': {
    locks: (dice) => some(dice).map((key) => mutex(key, 'fair')),
    takeAway: (client, lock) => force(client, lock, true),
  },
  'mutex with guarded writes': {
    locks: () => [mutex('a')],
    nature: { restlessness: 0.1, diligence: 0.7 },
  },
  'extended mutex': { locks: () => [mutex('a')], nature: { restlessness: 0.9 } },
  'mutex of the impatient': {
    locks: () => [mutex('a')],
    nature: IMPATIENT,
    isCrowd: true,
  },
  'mutex that is handed on': {
    locks: (dice) => some(dice).map((key) => mutex(key, 'handed on')),
    takeAway: (client, { name }) => client.locks.mutex(name.redisKey).forceUnlock(),
    nature: { restlessness: 0.05 },
    usersOfClient: 4,
  },
  'spin lock': { locks: () => [mutex('a', 'spin')] },
  'read/write lock': {
    locks(dice) {
      const [read, write] = readWriteLock('a', dice.chance(0.5));
      return dice.pick([
        [read, write],
        [read, read, read, write],
      ]);
    },
  },
  semaphore: { locks: (dice) => [semaphore('a', dice.integer(1, 3), false)] },
  'semaphore of the impatient': {
    locks: (dice) => [semaphore('a', dice.integer(1, 2), dice.chance(0.3))],
    nature: IMPATIENT,
    isCrowd: true,
  },
  'fair semaphore': { locks: (dice) => [semaphore('a', dice.integer(1, 3), true)] },
} satisfies Record<string, Plot>;

export type PlotName = keyof typeof PLOTS;

/**
 * Runs the random schedule of a seed: the same seed, the same schedule. Clients and their users, and faults; then calm, in which
 * the users go on for a while; then all is closed, and nothing is left.
 *
 * @param corrupt what has become of a script
 * @throws when a promise is broken
 */
export async function runRedisSchedule(
  plotName: PlotName,
  seed: number,
  corrupt?: (source: string) => string,
  plan = new Plan(),
): Promise<History> {
  seedIds(seed);
  const plot: Plot = PLOTS[plotName];
  const dice = new Dice(seed, seed % 2 === 0 ? 0 : 10); // in every other one, many things happen at the same time
  const world = new RedisWorld({
    dice,
    machine: corrupt ? corrupted(corrupt) : machine,
    isAsking: dice.chance(0.5),
    rate: dice.pick([1, 1, 0.99, 1.009]),
    lag: dice.pick([0, 30, 1_000]),
  });
  const watchdogTimeout = dice.pick([2_000, 2_000, 18_000]);
  plan.follow(world);
  const [clients, most] = plot.isCrowd
    ? [dice.integer(5, 8), 1]
    : [dice.integer(2, 4), plot.usersOfClient ?? 2];
  for (let left = clients; left > 0; left--) await world.addClient(watchdogTimeout);
  const locks = plot.locks(dice);
  world.judge.watch(locks);
  const nature = { ...USUAL, ...plot.nature };
  const users = world.clients.flatMap((client) =>
    Array.from({ length: dice.integer(1, most) }, (_, i) => {
      const name = `user ${i} of ${client.name}`;
      return new RedisUser(name, world, client, locks, nature, plan);
    }),
  );
  for (const user of users)
    user.live(dice).catch((error: Error) => world.judge.accuse(`a user fails: ${error.stack}`));

  const duration = 4 * watchdogTimeout;
  const accidents = new RedisAccidents(world, dice, {
    mayForget: dice.chance(0.3),
    plan,
    takeAway(client, drawn) {
      const lock = drawn.pick(locks);
      if (!plot.takeAway) return;
      const done = world.judge.taking(lock.name.redisKey);
      plot.takeAway(client, lock).then(done, () => {}); // without an answer it may still come
    },
  });
  const count = dice.pick([0, 0, 2, 4, 8]);
  if (count === 0) world.judge.strictSince = 0;
  else accidents.begin(count, duration, dice.pick(plot.nature?.restlessness ? [0.05, 0.1] : RISKS));
  await world.pass(duration);
  accidents.end();
  world.history.note('calm');
  const settled = world.clock.now() + 3 * watchdogTimeout + 5_000;
  await world.until(() => world.open.every(({ connection }) => connection.isReady), LONGEST);
  await world.pass(settled - world.clock.now());
  world.judge.strictSince = Math.min(world.judge.strictSince, world.clock.now());
  world.history.note('strict');
  await world.pass(3 * watchdogTimeout);
  for (const user of users) user.stop();
  const isOver = () => users.every(({ isDone, client }) => isDone || client.process.isDead);
  await world.until(isOver, LONGEST);
  await closeDown(world, locks);
  return world.history;
}

function corrupted(corrupt: (source: string) => string): Pick<LuaMachine, 'run'> {
  return {
    run: (sha1, source, ...rest) => {
      const changed = corrupt(source);
      return machine.run(changed === source ? sha1 : `${sha1} ${changed.length}`, changed, ...rest);
    },
  };
}

/** Closes all clients of a world without faults, and looks for what they leave behind. @throws if there is anything */
async function closeDown(world: RedisWorld, locks: readonly ObservedLock[]): Promise<void> {
  const { open, servers, clock, clients, judge } = world;
  await world.wait(Promise.all(open.map((client) => client.close())), LONGEST);
  await world.pass(10 * Timing.latency + 3_000);
  for (const { name, process } of open)
    if (process.pendingTimers > 0) judge.accuse(`${name} leaves ${process.pendingTimers} timers`);
  const isClean = clients.every(({ process }) => !process.isDead);
  const left = isClean ? leftovers(servers.keyspace, locks, 'now') : [];
  clock.stall(1_000_000);
  const late = leftovers(servers.keyspace, locks, 'later');
  for (const key of [...left, ...late]) judge.accuse(`${key} is left on the server`);
  judge.check();
}
