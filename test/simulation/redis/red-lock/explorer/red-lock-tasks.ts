import { explore, type Extent, type Play, type TaskReport } from '../../../explorer/exploration.js';
import { PLANTED, type PlantedBug } from '../../world/planted.js';
import { PLANTED_IN_CLIENT } from '../../world/planted-in-client.js';
import { playRedLock } from './red-lock-run.js';
import {
  RED_LOCK_SCENARIOS,
  type RedLockScenarioName,
  type RedLockSize,
} from './red-lock-scenarios.js';

/** What to explore. */
export interface RedLockTask extends RedLockSize, Extent {
  readonly redLock: RedLockScenarioName;
  readonly bug?: PlantedBug;
}

/** A bug of the client has to be planted before. */
export function playOfRedLock({ redLock, bug, ...size }: RedLockTask): Play {
  const corrupt = bug && bug in PLANTED ? PLANTED[bug as keyof typeof PLANTED] : undefined;
  return (chooser) => playRedLock(RED_LOCK_SCENARIOS[redLock], size, chooser, corrupt);
}

/** Plants the bug, if it is one of the client; the returned function removes it. */
export function plantInClient(bug: PlantedBug | undefined): () => void {
  return PLANTED_IN_CLIENT[bug as keyof typeof PLANTED_IN_CLIENT]?.() ?? (() => {});
}

/** Explores, and shrinks what it finds. */
export async function performRedLock(task: RedLockTask): Promise<TaskReport> {
  const { redLock, clients, requests, faults, kinds, bug } = task;
  const remove = plantInClient(bug);
  const again = (steps: readonly string[]) =>
    `npm run explore -- '${JSON.stringify({ redLock, clients, requests, faults, kinds, bug, steps })}'`;
  try {
    return await explore(playOfRedLock(task), task, again);
  } finally {
    remove();
  }
}
