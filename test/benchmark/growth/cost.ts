import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { LockClient } from '../../../lib/core/lock-client.js';
import type { ScaleBackend } from './backends.js';
import type { Scenario } from './scenarios.js';

/** An exponent above this is that of a row that has become quadratic, or is about to. A straight line has 1. */
export const LIMIT = 1.6;

/** What N of something cost together. */
export interface Cost {
  readonly n: number;
  readonly requests: number;
  readonly work: number;
  /** CPU time of this process, and of an embedded tree in it. */
  readonly cpuMs: number;
  /** Bytes of heap of each, where the scenario measures it. */
  readonly heapEach?: number;
}

/** Costs of one scenario on one backend, by N. */
export interface Growth {
  readonly title: string;
  readonly backend: ScaleBackend['name'];
  readonly unit: string;
  readonly costs: readonly Cost[];
  /** The greater exponent of requests and work: 1 is a straight line, 2 is quadratic. Of the CPU time if there is neither. */
  readonly exponent: number;
}

/** Runs the scenario on the backend with each N. */
export async function growthOf(
  scenario: Scenario,
  backend: ScaleBackend,
  sizes: readonly number[],
): Promise<Growth> {
  await costOf(scenario, backend, WARM_UP);
  const costs: Cost[] = [];
  for (const n of sizes) costs.push(await costOf(scenario, backend, n));
  const exponents = (['requests', 'work'] as const).map((count) => exponentOf(costs, count));
  const { title } = scenario;
  const { name, unit } = backend;
  return { title, backend: name, unit, costs, exponent: Math.max(...exponents) };
}

/** So many go before what is measured: the server gets the scripts, the client the directories. */
const WARM_UP = 9;

async function costOf(scenario: Scenario, backend: ScaleBackend, n: number): Promise<Cost> {
  const open: LockClient[] = [];
  const clients = async (count: number) => {
    const added = await Promise.all(Array.from({ length: count }, () => backend.client()));
    open.push(...added);
    return added;
  };
  const [client] = (await clients(1)) as [LockClient];
  await (await client.mutex('first').acquire()).release();
  let cost: Cost | undefined;
  let heapEach: number | undefined;
  let [heapBefore, ofPeak] = [0, 0];
  const measure = async (work: () => Promise<unknown>) => {
    heapBefore = usedHeap();
    const [before, cpu] = [await backend.counts(), process.cpuUsage()];
    await work();
    const [{ user, system }, after] = [process.cpuUsage(cpu), await backend.counts()];
    const requests = after.requests - before.requests;
    const cpuMs = (user + system - ofPeak) / 1_000;
    cost = { n, requests, work: after.work - before.work, cpuMs };
  };
  const peak = async () => {
    const before = process.cpuUsage();
    heapEach = (usedHeap() - heapBefore) / n;
    const { user, system } = process.cpuUsage(before);
    ofPeak = user + system;
  };
  try {
    await scenario.run(n, { backend, client, clients, measure, peak });
  } finally {
    await Promise.all(open.map((each) => each.close()));
  }
  return { ...cost!, heapEach };
}

/** The slope of a cost against N, both as logarithms, by least squares. */
export function exponentOf(costs: readonly Cost[], of: 'requests' | 'work' | 'cpuMs'): number {
  const points = costs.map((cost) => [Math.log(cost.n), Math.log(Math.max(cost[of], 1))] as const);
  const mean = (axis: 0 | 1) => points.reduce((sum, point) => sum + point[axis], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const rise = points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0);
  const run = points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
  return rise / run;
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

export function usedHeap(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
