import { Accidents } from './accidents.js';
import { closeDown } from './close-down.js';
import { Dice } from './dice.js';
import type { SimulatedClient } from './simulated-client.js';
import { Timing } from './timing.js';
import { World } from './world.js';

/** The longest that the users may continue after the last fault, in ms: only a bound, the observers have stricter ones. */
const LONGEST = 600_000;

/** The activities of the users of a world. */
export interface Play {
  /** Whether all users with live processes are done. They finish by themselves some time after `calm`. */
  isOver(): boolean;
  /** Called when the last fault is over. */
  calm?(): void;
  /** The clients that accidents affect more often than others. */
  victims?(): readonly SimulatedClient[];
}

/**
 * One random schedule: clients and their users, and faults; then calm, in which everything comes to its end; then the clients
 * are closed, and nothing is left.
 *
 * @param begin starts users on all clients of the world; the faults last for `duration`
 * @param mayHaveFollowers whether the server may be one of an ensemble: not where an observer assumes that it is the only one
 * @returns how often each kind of event happened
 * @throws when a promise is broken
 */
export async function runSchedule(
  seed: number,
  begin: (world: World, dice: Dice, duration: number) => Play,
  mayHaveFollowers = true,
): Promise<ReadonlyMap<string, number>> {
  const dice = new Dice(seed, seed % 2 === 0 ? 0 : 10); // in every other one, many things happen at the same time
  const world = new World({
    dice,
    isAsking: dice.chance(0.5),
    containerInterval: dice.pick([100, 1_000, 60_000]),
    hasFollowers: mayHaveFollowers && dice.chance(0.7),
    errorPolicy: dice.pick(['session', 'standard']),
  });
  const sessionTimeout = dice.pick([1_000, 1_000, 2_000]);
  for (let left = dice.integer(2, 5); left > 0; left--)
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
  await world.until(isFree, 2 * sessionTimeout + 2 * Timing.tick); // the judge is stricter with connected clients
  await closeDown(world);
  return world.history.counts;
}
