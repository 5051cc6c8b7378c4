// Plants a bug, and runs the schedules that are to find it, for `planted-bugs.spec.ts`.
import { BUGS } from './bugs.js';
import { firstAccusation } from './first-accusation.js';
import { mocks } from './plant.js';
import { type PlantedIn, SCHEDULES } from './schedules.js';

interface Order {
  readonly bug: string;
  readonly kind: PlantedIn;
}

async function accusationOf({ bug, kind }: Order): Promise<string | undefined> {
  const { plant, seeds, violation } = BUGS.find((planted) => planted.bug === bug)!;
  plant?.();
  try {
    return await firstAccusation(SCHEDULES[kind], violation, seeds[kind]!);
  } finally {
    mocks.restoreAllMocks();
  }
}

process.removeAllListeners('warning'); // each deadlock is one

process.on('message', (told: string) => {
  void accusationOf(JSON.parse(told) as Order).then((accusation) =>
    process.send!(accusation ?? 'none'),
  );
});
