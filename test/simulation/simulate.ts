import type { Dice } from './dice.js';
import { Guest } from './guest.js';
import { runSchedule } from './run-schedule.js';
import type { SimulatedClient } from './simulated-client.js';
import type { SimulatedLock } from './simulated-lock.js';
import { Visitor } from './visitor.js';
import type { World } from './world.js';

/**
 * One random schedule of locks.
 *
 * @param lay creates the locks of the world
 * @returns how often each kind of event happened
 * @throws when a promise of the locks is broken
 */
export function simulate(
  seed: number,
  lay: (world: World, dice: Dice) => readonly SimulatedLock[],
): Promise<ReadonlyMap<string, number>> {
  return runSchedule(seed, (world, dice, duration) => ({
    isOver: invite(world, lay(world, dice), dice, duration),
  }));
}

/** Starts guests on all clients until that time; the returned function returns whether all with live processes are gone. */
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
