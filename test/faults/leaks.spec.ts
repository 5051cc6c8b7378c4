import { describe, expect, it } from '@jest/globals';
import { eventually } from '../support/time.js';
import { useRedis, useZooKeeper } from '../support/fixtures.js';
import { KEPT } from '../support/redis-server.js';
import { byTier } from '../support/tier.js';
import { drivers } from '../support/zookeeper-driver.js';
import { FaultProxy } from '../support/zookeeper-proxy.js';
import { Program } from './support/program.js';
import { useZooKeeperStage } from './support/zookeeper-stage.js';

const MEGABYTE = 2 ** 20;
/** Of that many locks, ten times as many acquires. */
const TIMES = byTier({ quick: 200, standard: 300, long: 1_000 });
/** What the heap may grow by, in bytes: as much for less work, but for what it varies by. */
const MOST = byTier({ quick: 2, standard: 2, long: 5 }) * MEGABYTE;
const CUTS = byTier({ quick: 100, standard: 300, long: 10_000 });
const LEASES = byTier({ quick: 5_000, standard: 10_000, long: 100_000 });

/**
 * What grows with the work in the heap of the program, and what `look` sees before it, after it, and when it has closed.
 *
 * @param cut cuts its connection, whenever it asks for that
 */
async function check<T>(
  what: string,
  times: number,
  connect: string,
  look: () => Promise<T>,
  cut = () => {},
) {
  const url = new URL('./programs/leak-check.ts', import.meta.url);
  const program = new Program(url, [what, `${times}`, connect], ['--expose-gc']);
  const heap = async () => {
    for (;;) {
      const message = await program.next<number | 'cut'>();
      if (message !== 'cut') return message;
      cut();
    }
  };
  try {
    const heapBefore = await heap();
    const before = await look();
    program.tell('go on');
    const grown = (await heap()) - heapBefore;
    const after = await look();
    program.tell('close');
    expect(await program.exited).toEqual({ code: 0, signal: null, errors: '' });
    return { grown, before, after };
  } finally {
    await program.stop();
  }
}

describe(`${10 * TIMES} acquires, ${TIMES} timeouts and ${TIMES} aborts`, () => {
  /** How many locks the program uses. */
  const LOCKS = 11;
  const stage = useZooKeeperStage({ containerCheckIntervalMs: 600_000 });
  const redis = useRedis();

  async function watches(): Promise<number> {
    return Number(/Total watches:(\d+)/.exec(await stage.server.fourLetterWord('wchs'))![1]);
  }

  async function tree(path = '/locks'): Promise<string[]> {
    const children = (await stage.other.connection.getChildren(path)).sort();
    const below = await Promise.all(children.map((name) => tree(`${path}/${name}`)));
    return [path, ...below.flat()];
  }

  it.each(drivers)(
    'leave no watch, no znode and no memory behind, and no open handle after close(): %s',
    async (driver) => {
      const { connectString } = stage.server;
      const { grown, before, after } = await check(driver, TIMES, connectString, async () => {
        const isEmpty = async () => (await tree()).length === LOCKS + 1;
        await eventually('only directories are left', isEmpty);
        return { watches: await watches(), znodes: await tree() };
      });
      expect(after).toEqual(before);
      expect(after.watches).toBeLessThanOrEqual(LOCKS); // one on each directory, which stays
      expect(grown).toBeLessThan(MOST);
      expect(await watches()).toBe(0);
    },
    120_000,
  );

  it('leave no memory behind on the embedded tree, and no open handle after close()', async () => {
    const { grown } = await check('embedded', TIMES, '', async () => {});
    expect(grown).toBeLessThan(MOST);
  }, 60_000);

  /** But for the one that asks. */
  async function connections(): Promise<number> {
    const clients = String(await redis().command('client', 'list'));
    return clients.trim().split('\n').length - 1;
  }

  it('leave no key, no subscription and no memory behind on Redis, and no open handle after close()', async () => {
    const { grown, before, after } = await check('redis', TIMES, redis().url, async () => {
      await eventually('no lock is left', async () => {
        const keys = (await redis().command('keys', '*')) as string[];
        return keys.every((key) => KEPT.test(key));
      });
      await eventually('no client listens', async () => {
        const channels = (await redis().command('pubsub', 'channels')) as string[];
        return channels.length === 0;
      });
      return connections();
    });
    expect(after).toBe(before);
    expect(grown).toBeLessThan(MOST);
    await eventually('its connections are closed', async () => (await connections()) === 0);
  }, 120_000);
});

describe(`${CUTS} cuts of the connection to ZooKeeper`, () => {
  const server = useZooKeeper();

  it.each(drivers)(
    'leave no memory and no socket behind, nor take the lock: %s',
    async (driver) => {
      const proxy = await FaultProxy.start(server());
      try {
        const sockets = async () => proxy.open;
        const cut = () => proxy.cut();
        const connect = proxy.connectString;
        const { grown, before, after } = await check(`${driver}-cuts`, CUTS, connect, sockets, cut);
        expect([before, after]).toEqual([1, 1]);
        expect(proxy.accepted).toBeGreaterThan(CUTS);
        expect(grown).toBeLessThan(MOST);
      } finally {
        proxy.stop();
      }
    },
    600_000,
  );
});

describe(`${LEASES} leases that are left to run out`, () => {
  const redis = useRedis();

  it('leave no memory behind, and nothing that close() would release', async () => {
    const scripts = async () => {
      const stats = String(await redis().command('INFO', 'commandstats'));
      return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)![1]);
    };
    const { grown, after } = await check('leases', LEASES, redis().url, scripts);
    expect(await scripts()).toBe(after);
    expect(grown).toBeLessThan(MOST); // 5 KB each, when they were remembered
  }, 120_000);
});
