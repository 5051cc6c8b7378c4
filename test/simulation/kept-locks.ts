import type { ObservedHold } from './operation.js';
import { Patience, Times } from './timing.js';

/** Since when another queues, of any client, behind what that hold has or had. */
function wantedSince({ queue, nodes }: ObservedHold): number {
  let since: number = Times.never;
  for (const node of queue?.nodes ?? [])
    if (!nodes.includes(node)) since = Times.earliest(since, node.addedAt);
  return since;
}

/** Until when its client may keep what the hold has released, for its next caller; not what others may have seen. */
export function keptAtMostUntil({ endedAt = 0, lostAt, fencedAt, handOff }: ObservedHold): number {
  const isPrivate = lostAt === undefined && fencedAt === undefined;
  return endedAt + ((isPrivate && handOff?.keep) || 0);
}

/** The same, if the client hears of all that happens: when another queues, or it is closed, it does not wait any longer. */
export function keptUntil(hold: ObservedHold): number {
  const { endedAt = 0, handOff, servedAt, client } = hold;
  const { closedAt = Times.never } = client;
  const endOfTenure = servedAt + (handOff?.for ?? 0);
  const end = Times.earliest(keptAtMostUntil(hold), endOfTenure, closedAt, wantedSince(hold));
  return Times.latest(endedAt, end);
}

/** Whether it was kept once more although its client had to know by then that another queues. */
export function wasKeptFromOthers(hold: ObservedHold): boolean {
  const { giver, keptSince = Times.never, client } = hold;
  const since = Times.latest(wantedSince(hold), keptSince, client.calmSince);
  return giver!.endedAt! > since + Patience.TO_SERVE;
}
