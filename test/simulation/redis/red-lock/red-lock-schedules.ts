import { Dice } from '../../dice.js';
import type { History } from '../../observer.js';
import { corrupted, machine } from '../world/corrupted.js';
import { Plan } from '../world/plan.js';
import { RedisUser } from '../world/redis-user.js';
import { seedIds } from '../../seeded-ids.js';
import { RedLockAccidents } from './red-lock-accidents.js';
import { RedLockVisits } from './red-lock-visits.js';
import { RedLockWorld } from './red-lock-world.js';

/** The longest that users may go on after the last fault, in ms: only a bound, the judge is stricter. */
const LONGEST = 100_000;
const KEY = 'a';
const PAUSES = [20, 200, 2_000, 5_000];

/**
 * Runs the random schedule of a seed of a lock on several servers: clients and their users, and faults; then calm, in which the
 * users go on for a while; then all is closed, and nothing is left.
 *
 * @param corrupt what has become of a script
 * @throws when a promise is broken
 */
export async function runRedLockSchedule(
  seed: number,
  corrupt?: (source: string) => string,
  plan = new Plan(),
): Promise<History> {
  seedIds(seed);
  const dice = new Dice(seed, seed % 2 === 0 ? 0 : 10);
  const rates = Array.from({ length: dice.pick([3, 3, 5]) }, () => dice.pick([1, 1, 0.99, 1.009]));
  const world = new RedLockWorld(dice, corrupt ? corrupted(corrupt) : machine, rates, KEY);
  const watchdogTimeout = 5_000;
  plan.follow(world);
  for (let left = dice.integer(2, 4); left > 0; left--) await world.addClient(watchdogTimeout);
  const users = world.clients.flatMap((client) =>
    Array.from({ length: dice.integer(1, 2) }, (_, i) => {
      const user = new RedisUser(`user ${i} of ${client.name}`, world, client, plan);
      const visits = new RedLockVisits(world, client, KEY);
      user
        .live(dice, PAUSES, (drawn) => visits.next(drawn))
        .catch((error: Error) => world.judge.accuse(`a user fails: ${error.stack}`));
      return user;
    }),
  );
  const { judge, time, history } = world;
  const duration = 3 * watchdogTimeout;
  const longestLease = 2.1 * watchdogTimeout;
  const mayForget = dice.chance(0.3);
  const accidents = new RedLockAccidents(world, dice, { plan, longestLease, mayForget });
  const count = dice.pick([0, 2, 4, 8]);
  if (count === 0) judge.strictSince = 0;
  else accidents.begin(count, duration);
  await time.pass(duration);
  accidents.end();
  history.note('calm');
  await time.pass(longestLease + watchdogTimeout + 5_000);
  judge.strictSince = Math.min(judge.strictSince, world.clock.now());
  history.note('strict');
  await time.pass(2 * watchdogTimeout);
  for (const user of users) user.stop();
  await time.until(
    () => users.every(({ isDone, client }) => isDone || client.process.isDead),
    LONGEST,
  );
  await closeDown(world);
  return history;
}

/** Closes all clients of a world without faults, and looks for what they leave behind. @throws if there is anything */
export async function closeDown(world: RedLockWorld): Promise<void> {
  const { open, servers, clock, clients, judge, time } = world;
  await time.wait(Promise.all(open.map((client) => client.close())), LONGEST);
  await time.pass(5_000);
  for (const { name, process } of open)
    if (process.pendingTimers > 0) judge.accuse(`${name} leaves ${process.pendingTimers} timers`);
  const isClean = clients.every(({ process }) => !process.isDead);
  const left = isClean ? servers.leftovers(KEY, 'now') : [];
  clock.stall(1_000_000);
  for (const key of [...left, ...servers.leftovers(KEY, 'later')]) judge.accuse(`${key} is left`);
  judge.check();
}
