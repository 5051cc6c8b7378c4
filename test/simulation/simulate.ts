import { Accidents } from './accidents.js';
import { closeDown } from './close-down.js';
import { Dice } from './dice.js';
import { Guest } from './guest.js';
import type { SimulatedClient } from './simulated-client.js';
import type { SimulatedLock } from './simulated-lock.js';
import { Timing } from './timing.js';
import { Visitor } from './visitor.js';
import { World } from './world.js';

/** The longest that all visits may go on after the last fault, in ms: only a bound, the judge has stricter ones. */
const LONGEST = 600_000;

/**
 * One random schedule: clients whose users take locks, and faults; then calm, in which everything comes to its end; then
 * the clients are closed, and nothing is left.
 *
 * @param lay makes the locks of the world
 * @returns how often each kind of event happened
 * @throws when a promise of the locks is broken
 */
export async function simulate(
  seed: number,
  lay: (world: World, dice: Dice) => readonly SimulatedLock[],
): Promise<ReadonlyMap<string, number>> {
  const dice = new Dice(seed, seed % 2 === 0 ? 0 : 10); // in every other one, many things happen at the same time
  const world = new World({
    dice,
    isAsking: dice.chance(0.5),
    containerInterval: dice.pick([100, 1_000, 60_000]),
  });
  const sessionTimeout = dice.pick([1_000, 1_000, 2_000]);
  for (let left = dice.integer(2, 5); left > 0; left--)
    world.addClient(sessionTimeout * dice.pick([1, 1, 2]));
  const locks = lay(world, dice);
  const duration = 5 * sessionTimeout;
  const areGuestsGone = invite(world, locks, dice, duration);

  const accidents = new Accidents(world, dice, dice.pick([0, 0.01, 0.05]));
  accidents.begin(dice.integer(0, 8), duration);
  await world.pass(duration);
  accidents.end();
  const calm = Math.max(world.clock.now(), ...world.clients.map((it) => it.disturbedUntil));
  await world.pass(calm - world.clock.now());
  world.judge.calmSince = calm;
  world.history.note('calm');
  for (const count of world.counts) count.restore();

  await world.until(areGuestsGone, LONGEST);
  const isFree = () => [...world.judge.queues].every(({ first }) => first === undefined);
  await world.until(isFree, 2 * sessionTimeout + 2 * Timing.tick); // the judge is stricter with who is connected
  await closeDown(world);
  return world.history.counts;
}

/** Has guests come to all clients until that time; the returned function tells whether all are gone whose process lives. */
function invite(
  world: World,
  locks: readonly SimulatedLock[],
  dice: Dice,
  until: number,
): () => boolean {
  const inside = new Map<SimulatedClient, number>();
  for (const client of world.clients) {
    const visitors = locks.map((lock) => new Visitor(world.judge, client, lock));
    const guests = dice.integer(1, 2);
    inside.set(client, guests);
    for (let left = guests; left > 0; left--)
      new Guest(visitors, dice).live(until).then(
        () => void inside.set(client, inside.get(client)! - 1),
        (error: Error) => world.history.accuse(`the code of a user fails: ${error.stack}`),
      );
  }
  return () => [...inside].every(([client, left]) => left === 0 || client.process.isDead);
}
