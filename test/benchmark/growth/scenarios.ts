import type { Lease } from '../../../lib/core/lease.js';
import type { LockClient } from '../../../lib/core/lock-client.js';
import type { Lock } from '../../../lib/core/lock.js';
import { eventually } from '../../support/time.js';
import { type ScaleBackend, untilQuiet } from './backends.js';

/** What is measured of a scenario. */
export interface Stage {
  readonly backend: ScaleBackend;
  readonly client: LockClient;
  /** Further clients, which are closed with the first one. */
  clients(count: number): Promise<LockClient[]>;
  /** Measures `work`; called once. */
  measure(work: () => Promise<unknown>): Promise<void>;
  /** Called inside of `measure` when most is kept: measures the heap. */
  peak(): Promise<void>;
}

/** Something of which there are N. */
export interface Scenario {
  readonly title: string;
  /** Default: all backends. */
  readonly on?: readonly ScaleBackend['name'][];
  /** Numbers of a full run, of which a quick one has the first two. Default: 100, 1,000 and 10,000. */
  readonly sizes?: readonly number[];
  run(n: number, stage: Stage): Promise<void>;
}

const SIZES = [100, 1_000, 10_000];
/** How many acquires are under way at a time, where not all of them are. */
const WIDTH = 100;

export const scenarios: readonly Scenario[] = [
  {
    title: 'locks held',
    run: (n, stage) => holding(stage, n, (i) => stage.client.mutex(`order:${n}:${i}`)),
  },
  {
    title: 'waiters for one key',
    run: (n, stage) => queueing(stage, n, [stage.client]),
  },
  {
    title: 'waiters for one key, of ten clients',
    sizes: [400, 4_000, 20_000], // in a shorter queue, all of it is listed rather than asking for some
    run: async (n, stage) => queueing(stage, n, await stage.clients(10)),
  },
  {
    title: 'clients that wait for one key',
    sizes: [10, 100, 300],
    on: ['redis', 'zookeeper'],
    run: async (n, stage) => queueing(stage, n, await stage.clients(n)),
  },
  {
    title: 'waiters for one key, fair',
    on: ['redis'],
    run: (n, stage) => queueing(stage, n, [stage.client], fairMutex),
  },
  {
    title: 'clients that wait for one key, fair',
    sizes: [10, 100, 300],
    on: ['redis'],
    run: async (n, stage) => queueing(stage, n, await stage.clients(n), fairMutex),
  },
  {
    title: 'clients that wait for one write lock',
    sizes: [10, 100, 300],
    on: ['redis'],
    run: async (n, stage) =>
      queueing(stage, n, await stage.clients(n), (client, key) =>
        client.readWriteLock(key).writeLock(),
      ),
  },
  {
    title: 'clients that wait for one permit',
    sizes: [10, 100, 300],
    on: ['redis'],
    run: async (n, stage) =>
      queueing(stage, n, await stage.clients(n), (client, key) =>
        client.semaphore(key, { permits: 1 }),
      ),
  },
  {
    title: 'clients that wait for a multi-lock',
    sizes: [10, 100, 300],
    on: ['redis'],
    run: async (n, stage) =>
      queueing(stage, n, await stage.clients(n), (client, key) =>
        client.multiLock([client.mutex(`${key}:left`), client.mutex(`${key}:right`)]),
      ),
  },
  {
    title: 'keys used once',
    run: (n, { client, measure }) =>
      measure(() =>
        pool(n, async (i) => (await client.mutex(`once:${n}:${i}`).acquire()).release()),
      ),
  },
  {
    title: 'readers',
    run: (n, stage) => holding(stage, n, () => stage.client.readWriteLock(`book:${n}`).readLock()),
  },
  {
    title: 'permits',
    run: (n, stage) =>
      holding(stage, n, () => stage.client.semaphore(`seats:${n}`, { permits: n })),
  },
  {
    title: 'members of a multi-lock',
    sizes: [30, 300, 3_000],
    run: async (n, { client, measure }) => {
      const lock = client.multiLock(
        Array.from({ length: n }, (_, i) => client.mutex(`part:${n}:${i}`)),
      );
      await (await lock.acquire()).release(); // makes the directories
      await measure(async () => (await lock.acquire()).release());
    },
  },
  {
    title: 'held, and as many waiting, after a cut',
    sizes: [30, 300, 3_000],
    on: ['redis', 'zookeeper'],
    run: reconnecting,
  },
];

function fairMutex(client: LockClient, key: string): Lock {
  return client.mutex(key, { fair: true });
}

export const isOn = ({ on }: Scenario, backend: ScaleBackend['name']): boolean =>
  on === undefined || on.includes(backend);

/** The numbers of a run. */
export function sizesOf({ sizes = SIZES }: Scenario, isQuick: boolean): readonly number[] {
  return isQuick ? sizes.slice(0, 2) : sizes;
}

/** Acquires of N locks, and their releases. */
async function holding(stage: Stage, n: number, lockOf: (i: number) => Lock): Promise<void> {
  await stage.measure(async () => {
    const leases = await pool(n, (i) => lockOf(i).acquire());
    await stage.peak();
    await pool(n, (i) => leases[i]!.release());
  });
}

/** N acquires in one turn of a key that is taken; then all of them are served. */
async function queueing(
  stage: Stage,
  n: number,
  clients: readonly LockClient[],
  lockOf: (client: LockClient, key: string) => Lock = (client, key) => client.mutex(key),
): Promise<void> {
  const lock = (client: LockClient) => lockOf(client, `hot:${n}`);
  let waiting = 0;
  for (const client of clients) client.on('contended', () => void (waiting += 1));
  const held = await lock(stage.client).acquire();
  await stage.measure(async () => {
    const served = Array.from({ length: n }, (_, i) =>
      lock(clients[i % clients.length]!).using(async () => {}),
    );
    await eventually('all of them wait', () => waiting >= n, { within: 120_000 });
    if (stage.backend.name !== 'embedded') await untilQuiet(stage.backend);
    await stage.peak();
    await held.release();
    await Promise.all(served);
  });
}

/** N locks held by one client, which waits for N others, after all connections were cut. */
async function reconnecting(n: number, stage: Stage): Promise<void> {
  const { client, backend } = stage;
  const [other] = (await stage.clients(1)) as [LockClient];
  const theirs = await pool(n, (i) => other.mutex(`theirs:${n}:${i}`).acquire());
  const ours = await pool(n, (i) => client.mutex(`ours:${n}:${i}`).acquire());
  const waiting = Array.from({ length: n }, (_, i) => client.mutex(`theirs:${n}:${i}`).acquire());
  await untilQuiet(backend);
  await stage.measure(async () => {
    const reconnected = Promise.all([client, other].map(nextConnection));
    await backend.cut!();
    await reconnected;
    await untilQuiet(backend);
  });
  const lost = [...ours, ...theirs].filter(({ isHeld }) => !isHeld).length;
  if (lost > 0) throw new Error(`${lost} locks were lost`);
  await pool(n, (i) => theirs[i]!.release());
  for (const lease of await Promise.all(waiting)) await lease.release();
}

/** Resolves when the client is connected again. */
function nextConnection(client: LockClient): Promise<void> {
  return new Promise((resolve) => {
    const stop = client.on('connection', ({ state }) => {
      if (state !== 'CONNECTED' && state !== 'RECONNECTED') return;
      stop();
      resolve();
    });
  });
}

/** Does `work` N times, some of them at a time. */
async function pool<T = Lease>(n: number, work: (i: number) => Promise<T>): Promise<T[]> {
  const results = new Array<T>(n);
  let next = 0;
  const lane = async () => {
    while (next < n) {
      const i = next++;
      results[i] = await work(i);
    }
  };
  await Promise.all(Array.from({ length: Math.min(WIDTH, n) }, lane));
  return results;
}
