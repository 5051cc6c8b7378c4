import type { Clock } from '../../core/clock.js';
import { within } from '../../core/internal/timers.js';

/** What those answer that do within `ms`; rejects when none does. */
export async function fulfilled<T>(
  clock: Clock,
  ms: number,
  asked: readonly Promise<T>[],
): Promise<T[]> {
  const answers: T[] = [];
  let error: unknown = new Error(`no server has answered within ${ms} ms`);
  const all = asked.map((each) =>
    each.then(
      (answer) => void answers.push(answer),
      (reason) => void (error = reason),
    ),
  );
  await within(ms, clock, Promise.all(all));
  if (answers.length === 0) throw error;
  return [...answers];
}
