import { describe, expect, it } from '@jest/globals';
import {
  LockClientClosedError,
  LockKeyError,
  LockOptionsError,
  SharedValueClosedError,
} from '../../lib/core/errors/index.js';
import { CreateMode } from '../../lib/zookeeper/connection/zookeeper-connection.js';
import type { SharedCount } from '../../lib/zookeeper/shared/shared-count.js';
import { eventually } from '../support/time.js';
import { type Deployment, onStage, useWarnings } from './backends/stage.js';
import { type Backend, type Client, Stage } from './backends/zookeeper.js';

/** Everything that a shared count promises; with the cases of Curator's TestSharedCount. */
export function sharedCountSuite(on: Deployment<Backend>): void {
  describe(`A shared count on ${on.name}`, () => {
    const stage = onStage(() => Stage.build(on.backend()));
    const warnings = useWarnings();

    const started = async ({ locks }: Client, seed: number): Promise<SharedCount> => {
      const count = locks.sharedCount(stage().key, seed);
      await count.start();
      return count;
    };
    const becomes = (count: SharedCount, expected: number) =>
      eventually(`it is ${expected}`, () => count.count === expected);
    const data = async () => {
      const { stranger, path } = stage();
      await stranger.sync(path);
      return (await stranger.getData(path)).data;
    };

    on.part('of several clients', 'deployment', () => {
      it('keeps the first seed (Curator: testMultiClientDifferentSeed)', async () => {
        const { mine, theirs } = stage();
        const [first, second] = [await started(mine, 10), await started(theirs, 20)];
        expect([first.count, second.count]).toEqual([10, 10]);
      });

      it('is the same for all clients, and notifies them of every change (Curator: testMultiClients)', async () => {
        const { mine } = stage();
        const clients = await Promise.all([1, 2, 3, 4].map(() => stage().client()));
        const counts = await Promise.all(clients.map((client) => started(client, 0)));
        const told = counts.map(() => [] as number[]);
        for (const [n, count] of counts.entries()) count.onChange((value) => told[n]!.push(value));
        const writer = await started(mine, 0);
        for (const value of [10, -3, -3, 2 ** 31 - 1]) {
          await writer.setCount(value);
          await Promise.all(clients.map((client) => stage().caughtUp(client)));
        }
        for (const heard of told) expect(heard).toEqual([10, -3, 2 ** 31 - 1]);
      });

      it('is set by one of two clients that try at the same time (Curator: testMultiClientVersioned)', async () => {
        const { mine, theirs } = stage();
        const counts = [await started(mine, 0), await started(theirs, 0)];
        const tried = await Promise.all(counts.map((count, n) => count.trySetCount(n + 1)));
        expect(tried.filter(Boolean)).toHaveLength(1);
        const winner = tried.indexOf(true) + 1;
        await Promise.all(counts.map((count) => becomes(count, winner)));
        expect(await counts[2 - winner]!.trySetCount(9)).toBe(true); // the other one knows better now
        await Promise.all(counts.map((count) => becomes(count, 9)));
      });

      it('is set by the client that has seen the last value, in turn (Curator: testMultiClientVersioned)', async () => {
        const { mine, theirs } = stage();
        const [first, second] = [await started(mine, 0), await started(theirs, 0)];
        const told: number[] = [];
        first.onChange((value) => told.push(value));
        expect(await first.trySetCount(10, first.versionedCount)).toBe(true);
        await becomes(second, 10);
        expect(await second.trySetCount(20, second.versionedCount)).toBe(true);
        await becomes(first, 20);
        const seen = first.versionedCount;
        expect(await second.trySetCount(30, second.versionedCount)).toBe(true);
        expect(await first.trySetCount(40, seen)).toBe(false);
        await becomes(first, 30);
        expect(await first.trySetCount(40, first.versionedCount)).toBe(true);
        await becomes(second, 40);
        expect(told).toEqual([10, 20, 30, 40]);
      });

      it('loses no step of two clients that count up by trying', async () => {
        const { mine, theirs } = stage();
        const counts = [await started(mine, 0), await started(theirs, 0)];
        await Promise.all(
          counts.map(async (count) => {
            for (let step = 0; step < 20;) if (await count.trySetCount(count.count + 1)) step += 1;
          }),
        );
        await Promise.all(counts.map((count) => becomes(count, 40)));
      });
    });

    on.part('over lost connections', 'recipe', () => {
      it('knows what was set while its connection was down (Curator: testDisconnectReconnectWithMultipleClients)', async () => {
        const { mine, theirs } = stage();
        const [count, other] = [await started(mine, 0), await started(theirs, 0)];
        await stage().down();
        expect(count.count).toBe(0);
        await stage().up();
        await other.setCount(1);
        await becomes(count, 1);
      });

      it('notifies no listener of a lost connection, nor of the next one (Curator: testDisconnectReconnectEventDoesNotFireValueWatcher)', async () => {
        const { mine } = stage();
        const count = await started(mine, 10);
        const told: number[] = [];
        count.onChange((value) => told.push(value));
        await count.setCount(11);
        await stage().down();
        await stage().up();
        await stage().caughtUp(mine);
        expect(told).toEqual([11]);
        expect(await count.trySetCount(12, count.versionedCount)).toBe(true);
        await stage().caughtUp(mine);
        expect(told).toEqual([11, 12]);
      });

      it('goes on in the next session when one has ended', async () => {
        const { mine, theirs } = stage();
        const [count, other] = [await started(mine, 1), await started(theirs, 1)];
        await stage().expire(mine);
        await other.setCount(2);
        await becomes(count, 2);
        await count.setCount(3);
        await becomes(other, 3);
      });
    });

    on.part('while the connection is down', 'client', () => {
      it('asks nothing while the connection is down (Curator: testDisconnectEventOnWatcherDoesNotRetry)', async () => {
        const { mine } = stage();
        const count = await started(mine, 10);
        const states: string[] = [];
        mine.connection.onStateChange((state) => states.push(state));
        await stage().down();
        expect(states[0]).toBe('SUSPENDED'); // nothing has kept it from hearing of that
        const asked = mine.requests.length;
        await new Promise((resolve) => setImmediate(resolve));
        expect(mine.requests).toHaveLength(asked);
        expect(count.count).toBe(10);
        await stage().up();
      });

      it('keeps up no longer when it was closed while its connection was down', async () => {
        const { mine, theirs } = stage();
        const [count, other] = [await started(mine, 1), await started(theirs, 1)];
        await stage().down();
        count.close();
        await stage().up();
        await other.setCount(2);
        await stage().caughtUp(mine);
        expect(count.count).toBe(1);
      });
    });

    on.part('of bad values', 'client', () => {
      it.each([1.5, NaN, 2 ** 31, -(2 ** 31) - 1, '3'])('refuses the value %p', async (value) => {
        const { mine, key } = stage();
        const make = () => mine.locks.sharedCount(key, value as number);
        expect(make).toThrow(LockOptionsError);
        const count = await started(mine, 1);
        await expect(count.setCount(value as number)).rejects.toBeInstanceOf(LockOptionsError);
        await expect(count.trySetCount(value as number)).rejects.toBeInstanceOf(LockOptionsError);
        expect(await data()).toEqual(Buffer.from([0, 0, 0, 1]));
      });
    });

    on.part('with its node', 'server', () => {
      it('begins with its seed, and is what it was set to (Curator: TestSharedCount testSimple)', async () => {
        const count = await started(stage().mine, 10);
        expect(count.count).toBe(10);
        await count.setCount(7);
        expect(count.count).toBe(7);
        expect(await count.trySetCount(8)).toBe(true);
        expect(count.count).toBe(8);
      });

      it('is set only if it is still what the caller has seen (Curator: testSimpleVersioned)', async () => {
        const { mine, stranger, path } = stage();
        const count = await started(mine, 0);
        expect(count.versionedCount).toMatchObject({ value: 0, version: 0 });
        for (const [version, value] of [1, 5, 10].entries()) {
          const { zxid } = count.versionedCount;
          expect(await count.trySetCount(value, count.versionedCount)).toBe(true);
          expect(count.versionedCount).toMatchObject({ value, version: version + 1 });
          expect(count.versionedCount.zxid).toBeGreaterThan(zxid);
        }
        const last = count.versionedCount;
        expect(await count.trySetCount(7, { ...last, value: 20 })).toBe(false);
        expect(await count.trySetCount(7, { ...last, version: 10 })).toBe(false);
        expect(await count.trySetCount(7, { ...last, zxid: last.zxid - 1 })).toBe(false);
        expect(await data()).toEqual(Buffer.from([0, 0, 0, 10]));
        await stranger.setData(path, Buffer.from([0, 0, 0, 88]));
        expect(await count.trySetCount(23, last)).toBe(false);
        await becomes(count, 88);
        expect(await count.trySetCount(23, last)).toBe(false); // that is known not to be the last any more
        expect(await data()).toEqual(Buffer.from([0, 0, 0, 88]));
      });

      it('is not set by what was known of it before it was read', async () => {
        const { mine, theirs, key } = stage();
        await started(mine, 5);
        const count = theirs.locks.sharedCount(key, 5);
        const unread = count.versionedCount;
        expect(unread).toEqual({ value: 5, version: -1, zxid: -1 });
        expect(await count.trySetCount(6, unread)).toBe(false);
        expect(await count.trySetCount(6, count.versionedCount)).toBe(true);
      });

      it('is a node of four bytes that stays, as in Curator', async () => {
        await started(stage().mine, -2);
        expect(await data()).toEqual(Buffer.from([255, 255, 255, 254]));
        const stat = await stage().stranger.exists(stage().path);
        expect(stat!.ephemeralOwner).toBe('0');
        expect((await started(stage().theirs, 5)).count).toBe(-2);
      });

      it('follows what another client writes', async () => {
        const { mine, stranger, path } = stage();
        const count = await started(mine, 0);
        const told: number[] = [];
        count.onChange((value) => told.push(value));
        await stranger.setData(path, Buffer.from([0, 0, 1, 2]));
        await becomes(count, 258);
        expect(told).toEqual([258]);
      });

      it('does not notify a listener that was taken off, nor any listener after close()', async () => {
        const { mine, theirs } = stage();
        const [count, writer] = [await started(mine, 0), await started(theirs, 0)];
        const told: string[] = [];
        const stop = count.onChange(() => told.push('first'));
        count.onChange(() => told.push('second'));
        await writer.setCount(1);
        await becomes(count, 1);
        stop();
        await writer.setCount(2);
        await becomes(count, 2);
        count.close();
        await writer.setCount(3);
        await stage().caughtUp(mine);
        expect(told).toEqual(['first', 'second', 'second']);
      });

      it('notifies the others although a listener throws', async () => {
        const { mine, theirs } = stage();
        const [count, writer] = [await started(mine, 0), await started(theirs, 0)];
        const warn = warnings();
        const told: number[] = [];
        count.onChange(() => {
          throw new Error('no paper');
        });
        count.onChange((value) => told.push(value));
        await writer.setCount(1);
        await eventually('its listener is called', () => told.length === 1);
        await count.setCount(2);
        await writer.setCount(3);
        await eventually('its listener is called for each change', () => told.length === 3);
        expect(told).toEqual([1, 2, 3]);
        expect(warn).toHaveBeenCalledWith(expect.stringContaining('no paper'));
      });

      it('is not set by a client that has not seen what it is', async () => {
        const { mine, theirs, key } = stage();
        const count = await started(mine, 5);
        await count.setCount(6);
        const stranger = theirs.locks.sharedCount(key, 0);
        expect(await stranger.trySetCount(1)).toBe(false);
        expect(stranger.count).toBe(6);
        expect(await data()).toEqual(Buffer.from([0, 0, 0, 6]));
      });

      it('is not set, but made again with the seed, by a client that tries after its removal', async () => {
        const { mine, stranger, path } = stage();
        const count = await started(mine, 1);
        await count.setCount(4);
        await stranger.delete(path);
        expect(await count.trySetCount(5)).toBe(false);
        expect(count.count).toBe(1);
        expect(await count.trySetCount(5)).toBe(true);
      });

      it('begins anew when one client removes its node and another one makes it', async () => {
        const { mine, theirs, stranger, path } = stage();
        const count = await started(mine, 5);
        await count.setCount(6);
        await stranger.delete(path);
        await stage().caughtUp(mine);
        expect(count.count).toBe(6);
        const asked = mine.requests.length;
        await stage().caughtUp(mine);
        expect(mine.requests).toHaveLength(asked); // it waits, and does not ask again and again
        await started(theirs, 9);
        await becomes(count, 9);
        expect(await count.trySetCount(10)).toBe(true);
      });

      it('may be closed twice, and is then neither read nor set any more', async () => {
        const { mine } = stage();
        const count = await started(mine, 3);
        const { versionedCount } = count;
        count.close();
        count.close();
        expect(count.count).toBe(3);
        await expect(count.start()).rejects.toBeInstanceOf(SharedValueClosedError);
        await expect(count.setCount(4)).rejects.toBeInstanceOf(SharedValueClosedError);
        await expect(count.trySetCount(4)).rejects.toBeInstanceOf(SharedValueClosedError);
        await expect(count.trySetCount(4, versionedCount)).rejects.toThrow(/was closed/);
        expect(await data()).toEqual(Buffer.from([0, 0, 0, 3]));
      });

      it('is set, and notifies no listener, when it is closed while it is being set', async () => {
        const count = await started(stage().mine, 3);
        const told: number[] = [];
        count.onChange((value) => told.push(value));
        const isSet = count.setCount(4);
        count.close();
        await isSet;
        expect(await data()).toEqual(Buffer.from([0, 0, 0, 4]));
        expect(told).toEqual([]);
      });

      it('is not set by a client that was closed', async () => {
        const { theirs } = stage();
        const count = await started(theirs, 3);
        await theirs.locks.close();
        await expect(count.setCount(4)).rejects.toBeInstanceOf(LockClientClosedError);
        await expect(count.trySetCount(4)).rejects.toBeInstanceOf(LockClientClosedError);
        expect(await data()).toEqual(Buffer.from([0, 0, 0, 3]));
      });

      it.each([[[]], [[1, 2, 3]], [[0, 0, 0, 0, 1]]])(
        'keeps the last number when another client writes bytes that are no number: %p',
        async (bytes) => {
          const { mine, stranger, path } = stage();
          const warn = warnings();
          const count = await started(mine, 5);
          await stranger.setData(path, Buffer.from(bytes));
          await eventually('it warns', () => warn.mock.calls.length > 0);
          expect(String(warn.mock.calls[0]![0])).toContain('no number');
          expect(count.count).toBe(5);
          await stranger.setData(path, Buffer.from([0, 0, 0, 6]));
          await becomes(count, 6);
        },
      );

      it('refuses to start where the node holds no number', async () => {
        const { mine, stranger, key, path } = stage();
        await mine.mutex(`${key}-neighbour`).using(async () => {}); // makes the parents
        await stranger.create(path, Buffer.from('some text'), CreateMode.PERSISTENT);
        await expect(mine.locks.sharedCount(key, 1).start()).rejects.toBeInstanceOf(LockKeyError);
      });
    });
  });
}
