import { execFile } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { RedisServer } from '../support/redis-server.js';
import { ZooKeeperServer } from '../support/zookeeper-server.js';
import { TicketOfficeProcess } from './support/ticket-office-process.js';

const BUILD_TIMEOUT = 180_000;
const RUN_TIMEOUT = 90_000;

interface LiveView {
  tickets: number[];
  queue: number[];
  isRushing: boolean;
}

const rush = (url: string, locked: boolean) =>
  fetch(`${url}/rushes?locked=${locked}&latency=1`, { method: 'POST' });

const look = async (url: string) => (await (await fetch(`${url}/live`)).json()) as LiveView;

describe('The ticket office', () => {
  beforeAll(async () => {
    await promisify(execFile)('npm', ['run', '--silent', 'build:sample']).catch(({ stdout }) => {
      throw new Error(`The build failed.\n${stdout}`);
    });
  }, BUILD_TIMEOUT);

  it(
    'sells more seats than it has, except under the lock',
    async () => {
      await using office = new TicketOfficeProcess(['--once']);
      expect(await office.exitCode()).toBe(0);
      expect(office.stderr).toBe('');
      expect(office.row('no lock').sold).toBeGreaterThan(100);
      expect(office.row('no lock').oversold).toBe(office.row('no lock').sold - 100);
      expect(office.row('@WithMutex')).toEqual({ sold: 100, oversold: 0 });
    },
    RUN_TIMEOUT,
  );

  it(
    'does so with four processes on ZooKeeper',
    async () => {
      const server = await ZooKeeperServer.start();
      try {
        const connect = ['--connect', server.connectString];
        await using office = new TicketOfficeProcess([
          ...['--backend', 'zookeeper', ...connect, '--processes', '4', '--once'],
        ]);
        expect(await office.exitCode()).toBe(0);
        expect(office.stderr).toBe('');
        expect(office.row('no lock').sold).toBeGreaterThan(100);
        expect(office.row('@WithMutex')).toEqual({ sold: 100, oversold: 0 });
      } finally {
        await server.stop();
      }
    },
    RUN_TIMEOUT,
  );

  it(
    'does so with four processes on Redis, and shows the holder of the lock',
    async () => {
      const server = await RedisServer.start();
      try {
        const redis = ['--backend', 'redis', '--connect', `${server.host}:${server.port}`];
        await using office = new TicketOfficeProcess([...redis, '--processes', '4', '--once']);
        expect(await office.exitCode()).toBe(0);
        expect(office.stderr).toBe('');
        expect(office.row('no lock').sold).toBeGreaterThan(100);
        expect(office.row('@WithMutex')).toEqual({ sold: 100, oversold: 0 });

        await using page = new TicketOfficeProcess(redis);
        const url = await eventually('it serves', () => page.url, { within: RUN_TIMEOUT });
        const answer = rush(url, true);
        await eventually('one call holds it', async () => (await look(url)).queue.length === 1);
        expect((await answer).ok).toBe(true);
        page.interrupt();
        expect(await page.exitCode()).toBe(0);
        expect(page.stderr).toBe('');
      } finally {
        await server.stop();
      }
    },
    2 * RUN_TIMEOUT,
  );

  it(
    'goes on serving a page that shows a rush while it lasts, until Ctrl-C',
    async () => {
      await using office = new TicketOfficeProcess([]);
      const url = await eventually('it serves', () => office.url, { within: RUN_TIMEOUT });
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
      expect(await look(url)).toEqual({ tickets: one, queue: [], isRushing: false });

      office.interrupt();
      expect(await office.exitCode()).toBe(0);
      expect(office.stderr).toBe('');
    },
    RUN_TIMEOUT,
  );

  it(
    'ends at once and without a complaint when Ctrl-C comes in the middle of a rush',
    async () => {
      await using office = new TicketOfficeProcess([]);
      await eventually('it has begun', () => office.stdout.includes('300 customers'));
      office.interrupt();
      expect(await office.exitCode()).toBe(0);
      expect(office.stderr).toBe('');
      expect(office.url).toBeUndefined();
    },
    RUN_TIMEOUT,
  );

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
  ])('answers %j with one line', async (args, line) => {
    await using office = new TicketOfficeProcess(args);
    expect(await office.exitCode()).toBe(1);
    expect(office.stderr).toMatch(/^ticket-office: .*\n$/);
    expect(office.stderr).toContain(line);
    expect(office.stdout).toBe('');
  });

  it('says so in one line when its port is taken', async () => {
    await using other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    await using office = new TicketOfficeProcess([], port);
    expect(await office.exitCode()).toBe(1);
    expect(office.stderr).toMatch(/^ticket-office: .*EADDRINUSE.*\n$/);
  });
});
