import { Dice } from '../../dice.js';
import type { History } from '../../observer.js';
import { Timing } from '../../timing.js';
import { corrupted, machine } from './corrupted.js';
import { leftovers } from './leftovers.js';
import type { ObservedLock } from './observed-locks.js';
import { Plan } from './plan.js';
import { type Plot, type PlotName, PLOTS, USUAL } from './plots.js';
import { RedisAccidents } from './redis-accidents.js';
import { LockVisits } from './lock-visits.js';
import { RedisUser } from './redis-user.js';
import { RedisWorld } from './redis-world.js';
import { seedIds } from '../../seeded-ids.js';

/** The longest that users may go on after the last fault, in ms: only a bound, the judge is stricter. */
const LONGEST = 600_000;

/** Of a command, that its connection breaks while it is under way. */
const RISKS = [0, 0.005, 0.02, 0.05];

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
  if (plot.prepare) await world.time.wait(plot.prepare(world.clients[0]!));
  const asked = plot.locks(dice);
  const locks = [...new Set(asked.flatMap(({ parts }) => parts))];
  world.judge.watch(locks);
  const nature = { ...USUAL, ...plot.nature };
  const users = world.clients.flatMap((client) =>
    Array.from({ length: dice.integer(1, most) }, (_, i) => {
      const name = `user ${i} of ${client.name}`;
      return new RedisUser(name, world, client, plan);
    }),
  );
  const visits = plot.visits?.(world);
  const visitsOf = (user: RedisUser) => {
    const { client } = user;
    if (visits) return (drawn: Dice) => visits.next(client, drawn);
    const ofLocks = new LockVisits(world, client, asked, nature, user);
    return (drawn: Dice) => ofLocks.next(drawn);
  };
  for (const user of users)
    user
      .live(dice, nature.pauses, visitsOf(user))
      .catch((error: Error) => world.judge.accuse(`a user fails: ${error.stack}`));

  const duration = 4 * watchdogTimeout;
  const accidents = new RedisAccidents(world, dice, {
    mayForget: dice.chance(0.3) && plot.mayForget !== false,
    plan,
    takeAway(client, drawn) {
      if (!plot.takeAway) return;
      const lock = drawn.pick(locks);
      const done = world.judge.taking(lock.name.redisKey);
      plot.takeAway(client, lock).then(done, () => {}); // without an answer it may still come
    },
  });
  const count = dice.pick([0, 0, 2, 4, 8]);
  if (count === 0) world.judge.strictSince = 0;
  else accidents.begin(count, duration, dice.pick(plot.nature?.restlessness ? [0.05, 0.1] : RISKS));
  await world.time.pass(duration);
  accidents.end();
  world.history.note('calm');
  const settled = world.clock.now() + 3 * watchdogTimeout + 5_000;
  await world.time.until(() => world.open.every(({ connection }) => connection.isReady), LONGEST);
  await world.time.pass(settled - world.clock.now());
  world.judge.strictSince = Math.min(world.judge.strictSince, world.clock.now());
  world.history.note('strict');
  await world.time.pass(3 * watchdogTimeout);
  for (const user of users) user.stop();
  const isOver = () => users.every(({ isDone, client }) => isDone || client.process.isDead);
  const finished = visits?.finish(world.open[0]!, isOver);
  await world.time.until(isOver, LONGEST);
  await world.time.wait(Promise.resolve(finished));
  await closeDown(world, locks);
  return world.history;
}

/** Closes all clients of a world without faults, and looks for what they leave behind. @throws if there is anything */
export async function closeDown(world: RedisWorld, locks: readonly ObservedLock[]): Promise<void> {
  const { open, servers, clock, clients, judge } = world;
  await world.time.wait(Promise.all(open.map((client) => client.close())), LONGEST);
  await world.time.pass(10 * Timing.latency + 3_000);
  for (const { name, process } of open)
    if (process.pendingTimers > 0) judge.accuse(`${name} leaves ${process.pendingTimers} timers`);
  const isClean = clients.every(({ process }) => !process.isDead);
  const isExact =
    isClean &&
    clients.every(({ closedAt = 0 }) => closedAt >= judge.strictSince) &&
    !world.history.counts.has('failed with LOCK_CONNECTION');
  for (const { title, free } of isExact ? locks : [])
    if (free && free(servers.keyspace) !== 1) judge.accuse(`${title} are lost`);
  const left = isClean ? leftovers(servers.keyspace, locks, 'now') : [];
  clock.stall(1_000_000);
  const late = leftovers(servers.keyspace, locks, 'later');
  for (const key of [...left, ...late]) judge.accuse(`${key} is left on the server`);
  judge.check();
}
