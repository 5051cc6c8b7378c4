import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { LockModule, type LockBackendOptions } from '../../lib/index.js';
import { Program } from '../integration/support/program.js';
import { RedisServer } from '../support/redis-server.js';
import { ZooKeeperServer } from '../support/zookeeper-server.js';
import { Apps, clientOf } from './support/apps.js';

const ORDERS = Array.from({ length: 10 }, (_, i) => i);
const A_MINUTE = 60_000;

/** What holders and waiters report when they are notified of the end. */
const NEWS = [
  ...Array<string>(10).fill('holder: LOCK_LOST'),
  ...Array<string>(50).fill('waiter: LOCK_CLIENT_CLOSED'),
];

interface Backend {
  readonly backend: string;
  readonly start: () => Promise<ZooKeeperServer | RedisServer>;
  /** Without a release, a lock comes free after a minute. */
  readonly options: (server: ZooKeeperServer | RedisServer) => LockBackendOptions;
}

const BACKENDS: Backend[] = [
  {
    backend: 'ZooKeeper',
    start: () => ZooKeeperServer.start(),
    options: ({ host, port }) => ({
      backend: 'zookeeper',
      connect: `${host}:${port}`,
      sessionTimeout: A_MINUTE,
    }),
  },
  {
    backend: 'Redis',
    start: () => RedisServer.start(),
    options: ({ host, port }) => ({
      backend: 'redis',
      connect: { host, port },
      watchdogTimeout: A_MINUTE,
    }),
  },
];

const title = 'An app on $backend with ten held leases and fifty waiters, at kill -TERM,';

describe.each(BACKENDS)(title, ({ start, options }) => {
  const apps = new Apps();
  let server: ZooKeeperServer | RedisServer;
  let program: Program | undefined;

  beforeAll(async () => void (server = await start()), A_MINUTE);
  afterAll(() => server?.stop());
  afterEach(async () => {
    server.thaw();
    await Promise.all([program?.stop(), apps.close()]);
  });

  /** Starts the app; gives its pid when all of them hold or wait. */
  function run(shutdownTimeout: number): Promise<number> {
    const app = JSON.stringify({ ...options(server), shutdownTimeout });
    program = new Program(new URL('support/holding-app.ts', import.meta.url), [app]);
    return program.next();
  }

  /** Sends the signal; returns how the app has ended, after how many milliseconds, and what it has sent till then. */
  async function terminate(pid: number) {
    const sent = performance.now();
    process.kill(pid, 'SIGTERM');
    const exit = await program!.exited;
    const took = performance.now() - sent;
    const news = await Promise.all(NEWS.map(() => program!.next<string>()));
    return { ...exit, took, news: news.sort() };
  }

  it(
    'answers the waiters, leaves the locks to others at once, and is gone within shutdownTimeout',
    async () => {
      const shutdownTimeout = 15_000;
      const pid = await run(shutdownTimeout);
      const other = clientOf(await apps.boot({ imports: [LockModule.forRoot(options(server))] }));
      const acquiring = ORDERS.map((order) =>
        other.mutex(`order:${order}`).acquire({ wait: A_MINUTE / 3 }),
      );

      const { took, ...end } = await terminate(pid);
      expect(end).toEqual({ code: null, signal: 'SIGTERM', errors: '', news: NEWS });
      expect(took).toBeLessThan(shutdownTimeout);
      for (const lease of await Promise.all(acquiring)) expect(lease.isHeld).toBe(true);
    },
    A_MINUTE,
  );

  it(
    'does the same but for the locks when the server does not answer',
    async () => {
      const pid = await run(1_000);
      server.freeze();

      const { took, ...end } = await terminate(pid);
      expect(end).toEqual({ code: null, signal: 'SIGTERM', errors: '', news: NEWS });
      expect(took).toBeLessThan(1_000 + 10_000); // a stall of this machine is not the app's
    },
    A_MINUTE,
  );
});
