/** The value below which the share `p` of `values` lies. */
export function percentile(values: readonly number[], p: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * p))]!;
}

/**
 * Has each of `contestants` do `work` for so many rounds, in turns (A B A B), so that whatever else the machine does meets
 * them alike. Rounds of warm-up go before and are not counted. Resolves with what `work` returned for each, round by round.
 */
export async function alternately<C, T>(
  contestants: Readonly<Record<string, C>>,
  work: (contestant: C, name: string) => Promise<T>,
  { rounds, warmUp }: { rounds: number; warmUp: number },
): Promise<Record<string, T[]>> {
  const results: Record<string, T[]> = {};
  for (let round = -warmUp; round < rounds; round++)
    for (const [name, contestant] of Object.entries(contestants)) {
      const result = await work(contestant, name);
      if (round >= 0) (results[name] ??= []).push(result);
    }
  return results;
}

/** For each contestant, the middle one of the values that `valueOf` finds in its rounds. */
export function mediansOf<T>(
  measured: Readonly<Record<string, readonly T[]>>,
  valueOf: (round: T) => number,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(measured).map(([name, rounds]) => [name, percentile(rounds.map(valueOf), 0.5)]),
  );
}

/** Times of every single call, in microseconds, and calls a second: one rate a round. */
export interface Measured {
  readonly times: number[];
  readonly rates: number[];
}

/** What is compared: the lane tells calls that run at the same time apart. */
export type Work = (lane: number) => Promise<unknown>;

/**
 * Runs each of `works` for `rounds` rounds of `calls` calls, in turn, so that whatever else the machine does meets them
 * alike; `lanes` calls are in flight at any time. A warm-up goes before and is not counted.
 */
export async function sideBySide<N extends string>(
  works: Record<N, Work>,
  { rounds, calls, lanes }: { rounds: number; calls: number; lanes: number },
): Promise<Record<N, Measured>> {
  const names = Object.keys(works) as N[];
  const measured = {} as Record<N, Measured>;
  for (const name of names) measured[name] = { times: [], rates: [] };
  for (let round = -WARM_UP; round < rounds; round++) {
    for (const name of names) {
      const { times, rates } = await oneRound(works[name], calls, lanes);
      if (round < 0) continue;
      measured[name].times.push(...times);
      measured[name].rates.push(...rates);
    }
  }
  return measured;
}

const WARM_UP = 5;

async function oneRound(work: Work, calls: number, lanes: number): Promise<Measured> {
  const times: number[] = [];
  const begin = performance.now();
  let left = calls;
  const runLane = async (lane: number) => {
    while (left-- > 0) {
      const start = performance.now();
      await work(lane);
      times.push((performance.now() - start) * 1000);
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, lane) => runLane(lane)));
  return { times, rates: [calls / ((performance.now() - begin) / 1000)] };
}
