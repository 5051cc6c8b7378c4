import { deepEqual, equal } from 'node:assert/strict';
import type { LockClient } from '../../core/lock-client.js';
import type { ContractOptions } from './contract-options.js';
import type { ContractRunner } from './contract-runner.js';
import type { ContractStage } from './contract-stage.js';
import { VisitedRoom } from './visited-room.js';

/** One holder at a time, in the order of the queue. */
export function mutexExclusionContract(
  { it }: ContractRunner,
  stage: () => ContractStage,
  { isShared = true, isFair = true }: ContractOptions,
): void {
  const clients = () => (isShared ? [stage().mine, stage().theirs] : [stage().mine]);

  it('all but one at a time', async () => {
    const { key } = stage();
    const room = new VisitedRoom();
    const visits = Array.from({ length: 10 }, () => clients()).flat();
    const work = visits.map((client) => client.mutex(key).using(() => room.visit()));
    await stage().soon('all have been inside', Promise.all(work));
    deepEqual([room.visits, room.mostAtOnce], [visits.length, 1]);
  });

  it('a second caller of the same client, until the first lets go', async () => {
    await secondIsKeptOut(stage().mine);
  });

  if (isShared)
    it('another client, until the first lets go', async () => {
      await secondIsKeptOut(stage().theirs);
    });

  it('nobody from another key', async () => {
    const { mine, key } = stage();
    const door = await stage().take(mine.mutex(key));
    const window = await stage().take(mine.mutex(`${key}-window`));
    deepEqual([door.isHeld, window.isHeld], [true, true]);
  });

  it('in the order in which the waiters of one client came', async () => {
    await areServedInOrder([stage().mine]);
  });

  if (isShared && isFair)
    it('in the order in which the waiters of all clients came', async () => {
      await areServedInOrder(clients());
    });

  async function secondIsKeptOut(second: LockClient): Promise<void> {
    const { mine, key } = stage();
    const first = await stage().take(mine.mutex(key));
    equal(await second.mutex(key).tryAcquire(), undefined);
    const { lease } = await stage().queue(second, second.mutex(key));
    equal(first.isHeld, true);
    await first.release();
    const next = await stage().soon('the waiter is granted it', lease);
    deepEqual([first.isHeld, next.isHeld], [false, true]);
    equal(await mine.mutex(key).tryAcquire(), undefined);
  }

  async function areServedInOrder(all: LockClient[]): Promise<void> {
    const { mine, key } = stage();
    const first = await stage().take(mine.mutex(key));
    const served: number[] = [];
    const visits: Promise<void>[] = [];
    for (let visitor = 0; visitor < 8; visitor++) {
      const client = all[visitor % all.length]!;
      const { lease } = await stage().queue(client, client.mutex(key));
      const visit = lease.then((held) => {
        served.push(visitor);
        return held.release();
      });
      visits.push(visit);
    }
    await first.release();
    await stage().soon('all have been served', Promise.all(visits));
    deepEqual(served, [0, 1, 2, 3, 4, 5, 6, 7]);
  }
}
