import { deepEqual, ok } from 'node:assert/strict';
import { eventually } from '../../support/eventually.js';
import type { TestClient } from '../../integration/support/test-client.js';
import type { BarrierActor } from './barrier-actor.js';

/**
 * Makes all members of a double barrier enter and leave, the last one each time only when all others are known to wait for it.
 * Rejects when a member is in before all have entered, or out before all have left.
 *
 * @param path where their nodes are
 */
export async function doubleBarrierRound(
  members: readonly BarrierActor[],
  path: string,
  stranger: TestClient,
): Promise<void> {
  const others = members.slice(0, -1);
  const last = members.at(-1)!;
  const through: BarrierActor[] = [];
  const go = (member: BarrierActor, how: 'enter' | 'leave') =>
    member[how](60_000).then((isThrough) => {
      through.push(member);
      return isThrough;
    });

  const entered = others.map((member) => go(member, 'enter'));
  await stranger.queue(path, others.length); // and no `ready` among them
  deepEqual(through, []);
  const all = members.map(() => true);
  deepEqual(await Promise.all([...entered, last.enter(60_000)]), all);
  ok((await stranger.children(path)).includes('ready'));

  through.length = 0;
  const left = others.map((member) => go(member, 'leave'));
  // The node of the last member stays, and the lowest, which waits for it.
  const othersWait = async () => {
    const nodes = (await stranger.children(path)).filter((name) => name !== 'ready');
    return nodes.length <= 2;
  };
  await eventually('all others wait', othersWait);
  deepEqual(through, []);
  deepEqual(await Promise.all([...left, last.leave(60_000)]), all);
  await stranger.queue(path, 0);
}
