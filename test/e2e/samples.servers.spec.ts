import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { parseCommandLine } from '../../sample/01-ticket-office/src/command-line.js';
import { eventually } from '../support/time.js';
import { useRedis, useShared, useZooKeeper } from '../support/fixtures.js';
import { byTier } from '../support/tier.js';
import {
  CopiedSamples,
  runSample,
  TicketOfficeProcess,
  type SampleOutput,
} from './support/samples.js';

const TIMEOUT = 90_000;
jest.setTimeout(2 * TIMEOUT);

/** `npm run sample` */
const FROM_SOURCES = ['test/support/run.mjs', 'sample/run.ts'];

// The first one has a test of its own.
const names = readdirSync('sample').filter((name) => /^0[2-9]-/.test(name));

interface Manifest {
  name: string;
  version: string;
  scripts: Record<string, string>;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}

const manifestOf = (folder: string) =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

/** The line of the output that begins so. */
const lineOf = (stdout: string, start: string) =>
  stdout.split('\n').find((line) => line.startsWith(start)) ?? stdout;

const samples = useShared(async () => new CopiedSamples(names));
const redis = useRedis();
const zooKeeper = useZooKeeper();

describe('The sample', () => {
  const servers = () => ({ REDIS_URL: redis().url, ZOOKEEPER: zooKeeper().connectString });
  /** `npm start`, in the copy. */
  const run = (name: string, ...args: string[]) =>
    runSample(['dist/main.js', ...args], servers(), samples().of(name));

  /** It waits for three ticks of two seconds; the others run meanwhile. */
  let cron: Promise<SampleOutput>;
  beforeAll(() => {
    cron = run('02-cron-on-replicas', '--once');
    cron.catch(() => {}); // its test says so
  });

  it.each(names)('%s can be copied: it names what is tested here, and how to run it', (name) => {
    const { dependencies, devDependencies, scripts } = manifestOf(join('sample', name));
    const root = manifestOf('.');
    const tested = { ...root.devDependencies, [root.name]: root.version };
    expect(tested).toMatchObject({ ...dependencies, ...devDependencies });
    expect(scripts).toEqual({ build: 'tsc -p tsconfig.build.json', start: 'node dist/main.js' });
    const readme = readFileSync(join('sample', name, 'README.md'), 'utf8');
    expect(readme).toContain(
      `npm install ../${root.name}-${root.version}.tgz\nnpm run build\nnpm start`,
    );
  });

  it.each([
    [
      '03 books every payment of a queue, except without the lock',
      '03-queue-worker',
      /^(?!.*ann 10, bob 10, cid 10, dora 10)/s,
      '@WithMutex',
      'ann 10, bob 10, cid 10, dora 10',
    ],
    [
      '04 shows readers the whole cache, except without the locks',
      '04-cache-rebuild',
      / 40 reads, [1-9]\d* of them saw a part/,
      '@ReadLock, @WriteLock',
      ' 40 reads, 0 of them saw a part',
    ],
    [
      '05 is never sent away by the partner, except without the semaphore',
      '05-rate-limited-api',
      /, [1-9]\d* times "429/,
      '@Semaphore',
      ' 30 quotes, 0 times "429',
    ],
    [
      '06 sells what there is and is paid for it, except without the locks',
      '06-saga',
      /^(?!.* 5 shipped, 0 left, 5 paid)/s,
      '@WithMultiLock',
      ' 5 shipped, 0 left, 5 paid',
    ],
  ])('%s', async (_, name, unlocked, lock, result) => {
    const { stdout, stderr } = await run(name);
    expect(stderr).toBe('');
    expect(lineOf(stdout, 'no lock')).toMatch(unlocked);
    expect(lineOf(stdout, lock)).toContain(result);
  });

  it('runs from its sources too, by its number', async () => {
    const { stdout, stderr } = await runSample([...FROM_SOURCES, '5'], servers());
    expect(stderr).toBe('');
    expect(lineOf(stdout, '@Semaphore')).toContain(' 30 quotes, 0 times "429');
  });

  it.each(['1', 'paper', ''])('is asked for when "%s" names none', async (number) => {
    await expect(runSample([...FROM_SOURCES, number], {})).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: `Which sample? ${names.join(', ')}\n`,
    });
  });
  it('02 sends a digest from one of three replicas, except without the lock', async () => {
    const { stdout, stderr } = await cron;
    expect(stderr).toBe('');
    const ticks = [...stdout.matchAll(/^no lock: (\d) sent, .* @RunOnce: (\d) sent/gm)];
    const unlocked = ticks.map(([, count]) => Number(count));
    const locked = ticks.map(([, , count]) => Number(count));
    expect(ticks).toHaveLength(3);
    expect(Math.max(...unlocked)).toBe(3);
    expect(Math.max(...locked)).toBe(1); // a tick may find the name taken, where the one before came late
  });
});

interface LiveView {
  tickets: number[];
  queue: number[];
  isRushing: boolean;
  rushes: { locked: boolean; sold: number }[];
}

const rush = (url: string, locked: boolean) =>
  fetch(`${url}/rushes?locked=${locked}&latency=1`, { method: 'POST' });

const look = async (url: string) => (await (await fetch(`${url}/live`)).json()) as LiveView;

describe('The ticket office', () => {
  const open = (args: readonly string[] = [], port?: number) =>
    new TicketOfficeProcess(samples().ticketOffice, args, port);
  const servesPage = (office: TicketOfficeProcess) =>
    eventually('it serves', () => office.url, { within: TIMEOUT });
  const PROCESSES = byTier({ quick: '2', standard: '2', long: '4' });
  const BACKENDS = byTier({ quick: ['redis'], standard: ['redis'], long: ['redis', 'zookeeper'] });

  /** Without the lock it sells more than its hundred seats. */
  function expectComparison(office: TicketOfficeProcess): void {
    const { sold, oversold } = office.row('no lock');
    expect(sold).toBeGreaterThan(100);
    expect(oversold).toBe(sold - 100);
    expect(office.row('@WithMutex')).toEqual({ sold: 100, oversold: 0 });
  }

  it.each(BACKENDS)(
    'sells more seats than it has, except under the lock, in several processes on %s',
    async (backend) => {
      const { host, port } = backend === 'redis' ? redis() : zooKeeper();
      const server = ['--backend', backend, '--connect', `${host}:${port}`];
      await using office = open([...server, '--processes', PROCESSES, '--once']);
      expect(await office.exitCode()).toBe(0);
      expect(office.stderr).toBe('');
      expectComparison(office);
    },
  );

  it('shows the holder of the lock on Redis', async () => {
    const server = ['--backend', 'redis', '--connect', `${redis().host}:${redis().port}`];
    await using office = open(server);
    const url = await servesPage(office);
    const answer = rush(url, true);
    await eventually('one call holds it', async () => (await look(url)).queue.length === 1);
    expect((await answer).ok).toBe(true);
    office.interrupt();
    expect(await office.exitCode()).toBe(0);
    expect(office.stderr).toBe('');
  });

  it('sells too many in one process too, and then shows each rush on a page until Ctrl-C', async () => {
    await using office = open();
    const url = await servesPage(office);
    expectComparison(office);
    expect(await (await fetch(url)).text()).toContain('<title>Ticket office</title>');

    const answer = rush(url, true);
    const seen = await eventually('one call waits', async () => {
      const view = await look(url);
      return view.queue.length > 1 && view;
    });
    expect(seen.isRushing).toBe(true);
    expect(seen.queue).toEqual([...seen.queue].sort((a, b) => a - b));
    expect((await rush(url, true)).status).toBe(409);
    expect(await (await answer).json()).toMatchObject({ sold: 100, oversold: 0 });
    const one = Array<number>(100).fill(1);
    const { rushes, ...now } = await look(url);
    expect(now).toEqual({ tickets: one, queue: [], isRushing: false });
    // The latest first; the others were run for the table in the terminal.
    expect(rushes.map(({ locked }) => locked)).toEqual([true, true, false]);

    office.interrupt();
    expect(await office.exitCode()).toBe(0);
    expect(office.stderr).toBe('');
  });

  it('ends at once and without a complaint when Ctrl-C comes in the middle of a rush', async () => {
    await using office = open();
    await eventually('it has begun', () => office.stdout.includes('300 customers'));
    office.interrupt();
    expect(await office.exitCode()).toBe(0);
    expect(office.stderr).toBe('');
    expect(office.url).toBeUndefined();
  });

  it.each([
    [['--fast'], "Unknown option '--fast'"],
    [['now'], "Unexpected argument 'now'"],
    [['--backend', 'paper'], '--backend is "embedded", "zookeeper" or "redis", not "paper"'],
    [['--backend', 'zookeeper'], '--backend zookeeper needs --connect HOST:PORT'],
    [
      ['--backend', 'zookeeper', '--connect', 'zk'],
      '--backend zookeeper needs --connect HOST:PORT',
    ],
    [['--backend', 'zookeeper', '--connect', 'zk:70000'], 'needs --connect HOST:PORT'],
    [['--backend', 'redis'], '--backend redis needs --connect HOST:PORT'],
    [['--connect', 'zk:2181'], '--connect goes with --backend zookeeper or redis'],
    [['--processes', '4'], 'the embedded backend locks inside one process'],
    [['--processes', '0'], '--processes is a whole number from 1 to 64, not "0"'],
    [['--processes', '-1'], "Option '--processes' argument is ambiguous."],
  ])('refuses %j', (args, line) => {
    expect(() => parseCommandLine(args, {})).toThrow(line);
  });

  it('answers what it refuses with one line', async () => {
    await using office = open(['--processes', '-1']);
    expect(await office.exitCode()).toBe(1);
    expect(office.stderr).toMatch(/^ticket-office: .*\n$/);
    expect(office.stderr).toContain("Option '--processes' argument is ambiguous.");
    expect(office.stdout).toBe('');
  });

  it('says so in one line when its port is taken', async () => {
    await using other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    await using office = open([], port);
    expect(await office.exitCode()).toBe(1);
    expect(office.stderr).toMatch(/^ticket-office: .*EADDRINUSE.*\n$/);
  });
});
