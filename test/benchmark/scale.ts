import { scaleBackends } from './growth/backends.js';
import { exponentOf, type Growth, growthOf, LIMIT } from './growth/cost.js';
import { isOn, scenarios, sizesOf } from './growth/scenarios.js';
import { decoratedCalls } from './growth/decorated-calls.js';

/** What every row should reach: a straight line, and some noise. */
const GOAL = 1.1;

/**
 * How the cost of everything that apps have many of grows with their number, on each backend. It prints each row when it is
 * measured, so that a row that takes long can be seen.
 *
 * @param isQuick the first two numbers of each row, within a minute; more than `LIMIT` in a row makes the process fail
 */
export async function scale({ isQuick, isJson }: { isQuick: boolean; isJson: boolean }) {
  const all: Growth[] = [];
  const add = (growth: Growth) => {
    all.push(growth);
    if (!isJson) print(growth);
  };
  const backends = await Promise.all(Object.values(scaleBackends).map((start) => start()));
  try {
    for (const scenario of scenarios)
      for (const backend of backends)
        if (isOn(scenario, backend.name))
          add(await growthOf(scenario, backend, sizesOf(scenario, isQuick)));
  } finally {
    await Promise.all(backends.map((backend) => backend.stop()));
  }
  for (const growth of await decoratedCalls(isQuick)) add(growth);
  if (isJson) console.log(JSON.stringify(all));
  if (isQuick && all.some(({ exponent }) => exponent > LIMIT)) process.exitCode = 1;
}

const COLUMNS = [8, 10, 7, 12, 7, 9, 8, 9] as const;
const HEAD = ['N', 'requests', 'each', 'work', 'each', 'CPU ms', 'µs each', 'heap each'] as const;

const cells = (values: readonly (string | number)[]) =>
  values.map((value, i) => String(value).padStart(COLUMNS[i]!)).join(' ');

function print({ title, backend, unit, costs, exponent }: Growth): void {
  console.log(`\n${title}, ${backend} (work: ${unit})\n${cells(HEAD)}`);
  for (const { n, requests, work, cpuMs, heapEach } of costs)
    console.log(
      cells([
        n,
        requests,
        (requests / n).toFixed(1),
        work,
        (work / n).toFixed(1),
        cpuMs.toFixed(0),
        ((cpuMs * 1_000) / n).toFixed(0),
        heapEach === undefined ? '–' : Math.round(heapEach),
      ]),
    );
  const of = (count: Parameters<typeof exponentOf>[1]) => exponentOf(costs, count).toFixed(2);
  const verdict = exponent <= GOAL ? 'ok' : exponent <= LIMIT ? `above ${GOAL}` : 'MISSED';
  console.log(
    `exponents: requests ${of('requests')}, work ${of('work')}, CPU ${of('cpuMs')}: ${verdict}`,
  );
}
