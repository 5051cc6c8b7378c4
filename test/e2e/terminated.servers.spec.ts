import { describe, expect, it, jest } from '@jest/globals';
import { Program } from '../faults/support/program.js';
import { useCleanup } from '../support/fixtures.js';
import { clientOf, useApps } from './support/apps.js';
import { useDeployment } from './support/deployments.js';

const ORDERS = Array.from({ length: 10 }, (_, i) => i);
const A_MINUTE = 60_000;
jest.setTimeout(A_MINUTE);

/** What holders and waiters report when they are notified of the end. */
const NEWS = [
  ...Array<string>(10).fill('holder: LOCK_LOST'),
  ...Array<string>(50).fill('waiter: LOCK_CLIENT_CLOSED'),
];

describe.each(['zookeeper', 'redis'] as const)(
  'An app (%s) with ten held leases and fifty waiters, at kill -TERM,',
  (backend) => {
    const deployment = useDeployment(backend);
    const apps = useApps();
    const cleanup = useCleanup();
    /** Without a release, a lock comes free after a minute. */
    const options = () => ({
      ...deployment().options(A_MINUTE),
      drainTimeout: 200,
      unfinished: 'release' as const,
    });

    /** Starts the app; resolves when all of them hold or wait. */
    async function run(shutdownTimeout: number): Promise<{ program: Program; pid: number }> {
      const url = new URL('programs/holding-app.ts', import.meta.url);
      const program = new Program(url, [JSON.stringify({ ...options(), shutdownTimeout })]);
      cleanup(program, (each) => each.stop());
      return { program, pid: await program.next() };
    }

    /** Sends the signal; returns how the app has ended, after how many milliseconds, and what it has sent till then. */
    async function terminate({ program, pid }: { program: Program; pid: number }) {
      const sent = performance.now();
      process.kill(pid, 'SIGTERM');
      const exit = await program.exited;
      const took = performance.now() - sent;
      const news = await Promise.all(NEWS.map(() => program.next<string>()));
      return { ...exit, took, news: news.sort() };
    }

    it('answers the waiters, leaves the locks to others at once, and is gone within its timeouts', async () => {
      const shutdownTimeout = 15_000;
      const running = await run(shutdownTimeout);
      const other = clientOf(await apps.boot({ clients: [options()] }));
      const acquiring = ORDERS.map((order) =>
        other.mutex(`order:${order}`).acquire({ wait: A_MINUTE / 3 }),
      );

      const { took, ...end } = await terminate(running);
      expect(end).toEqual({ code: null, signal: 'SIGTERM', errors: '', news: NEWS });
      expect(took).toBeLessThan(shutdownTimeout);
      for (const lease of await Promise.all(acquiring)) expect(lease.isHeld).toBe(true);
    });

    it('does the same but for the locks when the server does not answer', async () => {
      const running = await run(1_000);
      cleanup(deployment(), (each) => each.thaw());
      deployment().freeze();

      const { took, ...end } = await terminate(running);
      expect(end).toEqual({ code: null, signal: 'SIGTERM', errors: '', news: NEWS });
      expect(took).toBeLessThan(1_000 + 10_000); // a stall of this machine is not the app's
    });
  },
);
