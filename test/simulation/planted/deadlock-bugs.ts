import { DeadlockExchange } from '../../../lib/core/deadlocks/deadlock-exchange.js';
import type { DeadlockReport } from '../../../lib/core/deadlocks/deadlock-report.js';
import { mocks, type PlantedBug, replace } from './plant.js';

/** Makes a client receive, for the reports of the others, what `bug` returns for them. */
function answersOf(
  bug: (reports: readonly DeadlockReport[], exchange: DeadlockExchange) => DeadlockReport[],
): void {
  mocks.spyOn(process, 'emitWarning').mockImplementation(() => {});
  replace(
    DeadlockExchange.prototype,
    'ask',
    (ask, exchange) => async (timeout) => bug(await ask(timeout), exchange),
  );
}

/** Bugs of what clients say to each other about their waits. */
export const DEADLOCK_BUGS: readonly PlantedBug[] = [
  {
    bug: 'takes the waits of all others for older than its own',
    plant: () =>
      answersOf((reports) =>
        reports.map((report) => ({
          ...report,
          waits: report.waits.map((wait) => ({ ...wait, since: 0 })),
        })),
      ),
    violation: /fails with LOCK_DEADLOCK/,
    seeds: { 'lock inside of another': 34 },
  },
  {
    bug: 'goes by all that others have ever reported',
    plant: () => {
      const past = new Map<DeadlockExchange, DeadlockReport[]>();
      answersOf((reports, exchange) => {
        const all = [...reports, ...(past.get(exchange) ?? [])];
        past.set(exchange, all);
        return all;
      });
    },
    violation: /that never was/,
    seeds: { 'lock inside of another': 16 },
  },
  {
    bug: 'hears nothing of the waits of others',
    plant: () => answersOf(() => []),
    violation: /is not reported/,
    seeds: { 'lock inside of another': 1 },
  },
];
