import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../lib/core/clock.js';
import { NativeTransport } from '../../lib/zookeeper/connection/native-transport.js';
import { ServerList } from '../../lib/zookeeper/connection/server-list.js';
import { SessionConnection } from '../../lib/zookeeper/connection/session-connection.js';
import { eventually } from '../support/eventually.js';
import { ZooKeeperServer } from '../support/zookeeper-server.js';
import { Program } from './support/program.js';

const MEGABYTE = 2 ** 20;
const PROGRAM = new URL('./programs/leak-check.ts', import.meta.url);
/** How many locks the program uses. */
const LOCKS = 11;

describe('10,000 acquires, 1,000 timeouts and 1,000 aborts', () => {
  let server: ZooKeeperServer;
  let observer: SessionConnection;

  beforeAll(async () => {
    server = await ZooKeeperServer.start({ containerCheckIntervalMs: 600_000 });
    observer = new SessionConnection({
      transport: await NativeTransport.load(),
      servers: new ServerList([server], Math.random),
      sessionTimeout: 30_000,
      clock: systemClock,
    });
    observer.start();
    await eventually('the observer is connected', () => observer.isConnected);
  }, 60_000);
  afterAll(async () => {
    await observer.close();
    await server.stop();
  });

  it('leave no watch, no znode and no memory behind, and no open handle after close()', async () => {
    const [before, after] = await run([server.connectString], async () => {
      await eventually(
        'only directories are left',
        async () => (await tree()).length === LOCKS + 1,
      );
      return { watches: await watches(), znodes: await tree() };
    });
    expect(after.seen).toEqual(before.seen);
    expect(after.seen.watches).toBeLessThanOrEqual(LOCKS); // one on each directory, which stays
    expect(after.heap - before.heap).toBeLessThan(5 * MEGABYTE);
    expect(await watches()).toBe(0);
  }, 120_000);

  it('leave no memory behind on the embedded tree, and no open handle after close()', async () => {
    const [before, after] = await run([], async () => {});
    expect(after.heap - before.heap).toBeLessThan(5 * MEGABYTE);
  }, 60_000);

  /** What the program's heap is like and what `look` sees, after a warm-up and after the work. */
  async function run<T>(args: string[], look: () => Promise<T>) {
    const program = new Program(PROGRAM, args, ['--expose-gc']);
    try {
      const before = { heap: await program.next<number>(), seen: await look() };
      program.tell('go on');
      const after = { heap: await program.next<number>(), seen: await look() };
      program.tell('close');
      expect(await program.exited).toEqual({ code: 0, signal: null, errors: '' });
      return [before, after] as const;
    } finally {
      await program.stop();
    }
  }

  async function watches(): Promise<number> {
    return Number(/Total watches:(\d+)/.exec(await server.fourLetterWord('wchs'))![1]);
  }

  async function tree(path = '/locks'): Promise<string[]> {
    const children = (await observer.getChildren(path)).sort();
    const below = await Promise.all(children.map((name) => tree(`${path}/${name}`)));
    return [path, ...below.flat()];
  }
});
