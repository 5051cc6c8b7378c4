import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '../support/time.js';
import { useShared } from '../support/fixtures.js';
import { ZooKeeperServer } from '../support/zookeeper-server.js';
import { EmbeddedBackend } from './backends/embedded.js';
import { ZooKeeperSemaphoreStage } from './backends/semaphores.js';
import { onStage } from './backends/stage.js';
import { ZooKeeperBackend } from './backends/zookeeper-servers.js';
import { type Backend, Stage } from './backends/zookeeper.js';

/** How often the servers look for empty directories, in milliseconds. */
const INTERVAL = 50;

const COLLECTING: [string, () => Promise<Backend>][] = [
  ['the embedded tree', async () => new EmbeddedBackend({ containerInterval: INTERVAL })],
  [
    'a standalone server',
    async () => {
      const server = await ZooKeeperServer.start({ containerCheckIntervalMs: INTERVAL });
      return new ZooKeeperBackend([server]);
    },
  ],
];

describe.each(COLLECTING)('Where %s collects empty directories almost at once', (_, start) => {
  const backend = useShared(start);
  const stage = onStage(() => Stage.build(backend()));
  const semaphores = new ZooKeeperSemaphoreStage(stage);

  const isCollected = (path = stage().path) =>
    eventually(`${path} is collected`, async () => !(await stage().stranger.exists(path)));

  describe('that of a mutex', () => {
    it('is collected when no client wants the lock any more (Curator: testContainerCleanup)', async () => {
      const { mine, theirs, key } = stage();
      await Promise.all([mine, theirs].map((client) => client.mutex(key).using(async () => {})));
      await isCollected();
      await using lease = await theirs.mutex(key).acquire();
      expect(lease.isHeld).toBe(true);
    });

    it('is not collected while the lock is held', async () => {
      const { mine, key, stranger, path } = stage();
      await using lease = await mine.mutex(key).acquire();
      await mine.mutex('another').using(async () => {});
      await isCollected('/locks/another');
      expect(await stranger.exists(path)).toBeDefined();
      expect(lease.isHeld).toBe(true);
    });

    it('counts from 0 again when it is made anew, but fencing tokens go on growing', async () => {
      const { mine, key } = stage();
      const grant = () =>
        mine.mutex(key).using(async (lease) => {
          const [node] = await stage().nodes();
          return { token: await lease.fencingToken(), counter: node!.slice(-10) };
        });
      const before = await grant();
      await isCollected();
      const after = await grant();
      expect([before.counter, after.counter]).toEqual(['0000000000', '0000000000']);
      expect(after.token).toBeGreaterThan(before.token);
    });

    it('may be missing or vanish at any time: every acquire gets through', async () => {
      const { mine, theirs, key } = stage();
      let [inside, mostInside] = [0, 0];
      const visit = async () => {
        mostInside = Math.max(mostInside, ++inside);
        await nextTurn();
        inside -= 1;
      };
      for (let round = 0; round < 40; round++) {
        if (round % 8 === 0) await isCollected();
        await Promise.all([mine, theirs, mine].map((client) => client.mutex(key).using(visit)));
      }
      expect(mostInside).toBe(1);
      expect(await stage().nodes()).toEqual([]);
    });
  });

  describe('that of a read/write lock', () => {
    it('may be missing or vanish at any time: every acquire gets through', async () => {
      const { mine, theirs, key } = stage();
      let [writers, readers, meetings] = [0, 0, 0];
      const write = async () => {
        writers += 1;
        await nextTurn();
        if (writers > 1 || readers > 0) meetings += 1;
        writers -= 1;
      };
      const read = async () => {
        readers += 1;
        await nextTurn();
        if (writers > 0) meetings += 1;
        readers -= 1;
      };
      for (let round = 0; round < 40; round++) {
        if (round % 8 === 0) await isCollected();
        await Promise.all([
          mine.readLock(key).using(read),
          theirs.writeLock(key).using(write),
          theirs.readLock(key).using(read),
          mine.writeLock(key).using(() => mine.readLock(key).using(nextTurn)),
        ]);
      }
      expect(meetings).toBe(0);
      expect(await stage().nodes()).toEqual([]);
    });

    it('counts from 0 again when it is made anew, but fencing tokens go on growing', async () => {
      const { mine, key } = stage();
      const tokens: bigint[] = [];
      for (const half of ['write', 'read', 'write'] as const) {
        await isCollected();
        await mine.half(half, key).using(async (lease) => {
          expect(await stage().nodes()).toEqual([expect.stringMatching(/0000000000$/)]);
          tokens.push(await lease.fencingToken());
        });
      }
      expect(tokens[1]).toBeGreaterThan(tokens[0]!);
      expect(tokens[2]).toBeGreaterThan(tokens[1]!);
    });

    it('stays for the reader of a downgrade, although its node took no number', async () => {
      const { mine, theirs, key, path, stranger } = stage();
      const reader = await mine.writeLock(key).using(() => mine.readLock(key).acquire());
      await mine.mutex('another').using(async () => {});
      await isCollected('/locks/another');
      expect(await stranger.exists(path)).toBeDefined();
      expect(await theirs.writeLock(key).tryAcquire()).toBeUndefined();
      await reader.release();
    });
  });

  describe('those of a semaphore', () => {
    it('are collected when no client wants a permit any more, and made anew (Curator: testContainerCleanup)', async () => {
      const { mine, theirs, path } = stage();
      await Promise.all(
        [mine, theirs].map((client) => semaphores.of(client, 1).using(async () => {})),
      );
      await isCollected(path);
      await using lease = await semaphores.of(theirs, 1).acquire();
      expect(lease.isHeld).toBe(true);
      await isCollected(`${path}/locks`); // no waiter is at the gate
      expect(await semaphores.of(mine, 1).tryAcquire()).toBeUndefined();
      const { lease: waiting } = await semaphores.queue(mine, 1); // it makes the gate anew
      await semaphores.nodesBecome({ leases: 2, gate: 1 });
      await lease.release();
      await (await waiting).release();
    });

    it('may be missing or vanish at any time: every acquire gets through, and no more than there are', async () => {
      const { mine, theirs, path } = stage();
      let [inside, mostInside] = [0, 0];
      const visit = async () => {
        mostInside = Math.max(mostInside, ++inside);
        await stage().stranger.exists('/'); // a turn of the servers
        inside -= 1;
      };
      for (let round = 0; round < 24; round++) {
        if (round % 8 === 0) await isCollected(path);
        await Promise.all([
          semaphores.of(mine, 2).using(visit),
          semaphores.of(theirs, 2).using(visit, { permits: 2 }),
          semaphores.of(mine, 2).using(visit),
        ]);
        await using lease = await semaphores.of(theirs, 2).tryAcquire({ permits: 2 });
        expect(lease?.isHeld).toBe(true);
      }
      expect(mostInside).toBeLessThanOrEqual(2);
      await semaphores.nodesBecome({ leases: 0, gate: 0 });
    });
  });
});
