import { eventually } from '../../support/time.js';

/** What keeps the process alive at this moment, by kind. */
export function openHandles(): Map<string, number> {
  const kinds = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo())
    if (kind !== 'Immediate') kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  return kinds;
}

/** Waits until nothing is open that was not `before`. */
export async function noMoreHandlesThan(before: Map<string, number>): Promise<void> {
  await eventually(`no more handles than ${JSON.stringify([...before])}`, () =>
    [...openHandles()].every(([kind, count]) => count <= (before.get(kind) ?? 0)),
  );
}
