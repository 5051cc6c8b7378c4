import { expect, it, jest } from '@jest/globals';
import {
  CounterOverflowError,
  LockClientClosedError,
  LockKeyError,
  LockOptionsError,
} from '../../lib/core/errors/index.js';
import type { AtomicValue } from '../../lib/zookeeper/atomic/atomic-options.js';
import type { DistributedAtomicLong } from '../../lib/zookeeper/atomic/distributed-atomic-number.js';
import { ExponentialBackoffRetry } from '../../lib/zookeeper/connection/retry-policies.js';
import { parentPath } from '../../lib/zookeeper/connection/znode-path.js';
import { CreateMode } from '../../lib/zookeeper/connection/zookeeper-connection.js';
import type { Deployment } from './backends/stage.js';
import type { Client, Stage } from './backends/zookeeper.js';

const MOST = 2n ** 63n - 1n;
const LEAST = -(2n ** 63n);

/** A 64-bit number that many change at the same time. */
export function atomicLongSuite<B>(on: Deployment<B>, stage: () => Stage): void {
  const of = ({ locks }: Client): DistributedAtomicLong => locks.atomicLong(stage().key);
  /** A connection of another client, to a server that knows of all that has happened so far. */
  const stranger = async () => {
    await stage().stranger.sync('/');
    return stage().stranger;
  };
  const data = async () => (await (await stranger()).getData(stage().path)).data;
  const bytes = (value: bigint) => {
    const buffer = Buffer.alloc(8);
    buffer.writeBigInt64BE(value);
    return buffer;
  };
  const holding = async (content: Buffer) => {
    const { mine, key, path } = stage();
    await mine.mutex(`${key}-neighbour`).using(async () => {}); // makes the parents
    await (await stranger()).create(path, content, CreateMode.PERSISTENT);
  };
  const expectChange = (value: AtomicValue<bigint>, preValue: bigint, postValue: bigint) =>
    expect(value).toMatchObject({
      succeeded: true,
      preValue,
      postValue,
      stats: { optimisticTries: 1, promotedLockTries: 0, promotedTimeMs: 0 },
    });

  on.part('changed by many', 'deployment', () => {
    it('is set by exactly one of many concurrent compareAndSet() calls', async () => {
      const { mine, theirs } = stage();
      await of(mine).forceSet(5n);
      await stage().caughtUp(theirs);
      const clients = [mine, theirs, mine, theirs];
      const values = await Promise.all(
        clients.map((client, n) => of(client).compareAndSet(5n, BigInt(n + 10))),
      );
      const [winner] = values.filter(({ succeeded }) => succeeded);
      expect(values.filter(({ succeeded }) => succeeded)).toHaveLength(1);
      expect(await data()).toEqual(bytes(winner!.postValue));
    });

    it('is initialized by exactly one of two concurrent initialize() calls', async () => {
      const { mine, theirs } = stage();
      const made = await Promise.all([of(mine).initialize(1n), of(theirs).initialize(2n)]);
      expect(made.filter(Boolean)).toHaveLength(1);
      expect(await data()).toEqual(bytes(made[0] ? 1n : 2n));
    });

    it('is set by force while others count (Curator: testForceSet)', async () => {
      const { mine, theirs } = stage();
      const [counter, tyrant] = [of(mine), of(theirs)];
      const count = async () => {
        for (let n = 0; n < 50; n++) {
          const { succeeded, preValue, postValue } = await counter.increment();
          expect(postValue - preValue).toBe(succeeded ? 1n : 0n);
        }
      };
      const reset = async () => {
        for (let n = 0; n < 50; n++) await tyrant.forceSet(0n);
      };
      await Promise.all([count(), reset()]);
      await tyrant.forceSet(0n);
      expect(await tyrant.get()).toBe(0n);
      expect(await data()).toEqual(bytes(0n));
    });

    it('is the exact sum of what many have counted at the same time (Curator: testSimulation)', async () => {
      const clients = await Promise.all([1, 2, 3, 4, 5].map(() => stage().client()));
      const retryPolicy = new ExponentialBackoffRetry(3, 3);
      const values: AtomicValue<bigint>[] = [];
      const count = async ({ locks }: Client) => {
        const counter = locks.atomicLong(stage().key, { retryPolicy });
        let last = 0n;
        for (let n = 0; n < 20; n++) {
          const value = await counter.increment();
          values.push(value);
          if (!value.succeeded) continue;
          expect(value.postValue).toBe(value.preValue + 1n);
          expect(value.postValue).toBeGreaterThan(last);
          last = value.postValue;
        }
      };
      await Promise.all(clients.map(count));
      const counted = values.filter(({ succeeded }) => succeeded);
      const numbers = new Set(counted.map(({ postValue }) => postValue));
      expect(numbers.size).toBe(counted.length); // no two increments have led to the same number
      expect(await data()).toEqual(bytes(BigInt(counted.length)));
      for (const { stats } of values) expect(stats.optimisticTries).toBeGreaterThan(0);
    });

    it('is the exact sum of what one client has counted, all at once', async () => {
      const { mine } = stage();
      const values = await Promise.all(Array.from({ length: 20 }, () => of(mine).increment()));
      const counted = values.filter(({ succeeded }) => succeeded);
      expect(await of(mine).get()).toBe(BigInt(counted.length));
      expect(counted.length).toBeGreaterThan(0);
    });

    it('goes on in the next session when one has ended', async () => {
      const { mine } = stage();
      const counter = of(mine);
      expectChange(await counter.increment(), 0n, 1n);
      await stage().expire(mine);
      expectChange(await counter.increment(), 1n, 2n);
    });
  });

  on.part('over a lost connection', 'recipe', () => {
    it('goes on', async () => {
      const { mine, path } = stage();
      const counter = of(mine);
      expectChange(await counter.increment(), 0n, 1n);
      await stage().down();
      await stage().up();
      expectChange(await counter.increment(), 1n, 2n);
      expect(await (await stranger()).exists(path)).toMatchObject({ version: 1 });
    });
  });

  on.part('on its node', 'server', () => {
    it('counts up and down from 0, also where its parents are missing (Curator: TestDistributedAtomicLong testBasic)', async () => {
      const { mine, key } = stage();
      const path = `/deep/below-${key}/counter`;
      const counter = mine.locks.atomicLong(path);
      expect(counter.path).toBe(path);
      expect(await counter.get()).toBe(0n);
      expect(await (await stranger()).exists(parentPath(path))).toBeUndefined(); // get() makes nothing
      expectChange(await counter.increment(), 0n, 1n);
      expectChange(await counter.decrement(), 1n, 0n);
      expectChange(await counter.add(10n), 0n, 10n);
      expectChange(await counter.subtract(5), 10n, 5n);
      expectChange(await counter.trySet(-7n), 5n, -7n);
      expect(await counter.get()).toBe(-7n);
    });

    it('is eight bytes on a node that stays, the highest first, as in Curator', async () => {
      const { mine, theirs, path } = stage();
      await of(mine).trySet(-2n);
      expect(await data()).toEqual(bytes(-2n));
      expect([...(await data())]).toEqual([255, 255, 255, 255, 255, 255, 255, 254]);
      expect(await (await stranger()).exists(path)).toMatchObject({ ephemeralOwner: '0' });
      await (await stranger()).setData(path, Buffer.from([0, 0, 0, 1, 0, 0, 0, 0]));
      expect(await caughtUp(theirs).then((counter) => counter.get())).toBe(2n ** 32n);
    });

    it('is 0 where the node is empty', async () => {
      await holding(Buffer.alloc(0));
      const counter = await caughtUp(stage().mine);
      expect(await counter.get()).toBe(0n);
      expect(await counter.initialize(4n)).toBe(false);
      expectChange(await counter.increment(), 0n, 1n);
      expect(await data()).toEqual(bytes(1n));
    });

    it('is compared only where it exists (Curator: testCompareAndSetWithFreshInstance)', async () => {
      const counter = of(stage().mine);
      const missing = await counter.compareAndSet(0n, 1n);
      expect(missing).toMatchObject({ succeeded: false, preValue: 0n, postValue: 0n });
      expect(await (await stranger()).exists(stage().path)).toBeUndefined();
      expect(await counter.initialize(0n)).toBe(true);
      expectChange(await counter.compareAndSet(0n, 1n), 0n, 1n);
      expect(await counter.initialize(0n)).toBe(false);
      expect(await counter.get()).toBe(1n);
    });

    it('is not set when it is not what was expected, nor when it changes meanwhile (Curator: testCompareAndSet)', async () => {
      const { mine, path } = stage();
      const counter = of(mine);
      await counter.forceSet(1n);
      expectChange(await counter.compareAndSet(1n, 5n), 1n, 5n);
      const other = await counter.compareAndSet(1n, 5n);
      expect(other).toMatchObject({ succeeded: false, preValue: 5n, postValue: 5n });

      const stop = afterReading(mine, path, (reading) =>
        reading === 1 ? stage().stranger.setData(path, bytes(6n)) : Promise.resolve(),
      );
      const overtaken = await counter.compareAndSet(5n, 10n);
      expect(overtaken).toMatchObject({ succeeded: false, preValue: 6n, postValue: 6n });
      stop();
      expect(await data()).toEqual(bytes(6n));
    });

    it.each([['foo'], ['nine bytes'], ['1234']])(
      'rejects with LockKeyError while its node holds no number: %p (Curator: testCorruptedValue)',
      async (text) => {
        await holding(Buffer.from(text));
        const counter = await caughtUp(stage().mine);
        await expect(counter.get()).rejects.toBeInstanceOf(LockKeyError);
        await expect(counter.get()).rejects.toThrow(/no number/);
        await expect(counter.increment()).rejects.toBeInstanceOf(LockKeyError);
        await expect(counter.trySet(1n)).rejects.toBeInstanceOf(LockKeyError);
        await expect(counter.compareAndSet(0n, 1n)).rejects.toBeInstanceOf(LockKeyError);
        expect(await data()).toEqual(Buffer.from(text));
        await counter.forceSet(3n);
        expectChange(await counter.increment(), 3n, 4n);
      },
    );

    it('reaches both ends of 64 bits, and never goes beyond them', async () => {
      const counter = of(stage().mine);
      await counter.forceSet(MOST);
      await Promise.all(
        [counter.increment(), counter.add(MOST), counter.subtract(LEAST)].map((beyond) =>
          expect(beyond).rejects.toBeInstanceOf(CounterOverflowError),
        ),
      );
      expect(await data()).toEqual(bytes(MOST));
      expectChange(await counter.add(LEAST), MOST, -1n);
      expectChange(await counter.add(LEAST + 1n), -1n, LEAST);
      await Promise.all(
        [counter.decrement(), counter.add(LEAST), counter.subtract(MOST)].map((beyond) =>
          expect(beyond).rejects.toThrow(/64 bits/),
        ),
      );
      expect(await data()).toEqual(bytes(LEAST));
      expectChange(await counter.trySet(Number.MAX_SAFE_INTEGER), LEAST, 2n ** 53n - 1n);
    });

    it.each([1.5, NaN, Infinity, 2 ** 53, MOST + 1n, LEAST - 1n, '3', undefined, null])(
      'refuses the value %p',
      async (wrong) => {
        const counter = of(stage().mine);
        await counter.forceSet(1n);
        const value = wrong as bigint;
        await Promise.all(
          [
            counter.add(value),
            counter.subtract(value),
            counter.trySet(value),
            counter.compareAndSet(value, 2n),
            counter.compareAndSet(1n, value),
            counter.forceSet(value),
            counter.initialize(value),
          ].map((refused) => expect(refused).rejects.toBeInstanceOf(LockOptionsError)),
        );
        expect(await data()).toEqual(bytes(1n));
      },
    );

    it('starts again from 0 when another client removes its node', async () => {
      const { mine, path } = stage();
      const counter = of(mine);
      await counter.forceSet(8n);
      await stage().stranger.delete(path);
      await stage().caughtUp(mine);
      expectChange(await counter.increment(), 0n, 1n);
    });

    it('is incremented from 0 when another client removes its node meanwhile', async () => {
      const { mine, path } = stage();
      const counter = of(mine);
      await counter.forceSet(8n);
      const stop = afterReading(mine, path, (reading) =>
        reading === 1 ? stage().stranger.delete(path) : Promise.resolve(),
      );
      const value = await counter.increment();
      stop();
      expect(value).toMatchObject({ succeeded: true, preValue: 0n, postValue: 1n });
      expect(value.stats.optimisticTries).toBe(2);
    });

    it('is not changed by a client that was closed', async () => {
      const { theirs } = stage();
      const counter = of(theirs);
      await counter.forceSet(1n);
      await theirs.locks.close();
      await Promise.all(
        [
          counter.get(),
          counter.increment(),
          counter.compareAndSet(1n, 2n),
          counter.forceSet(2n),
          counter.initialize(2n),
        ].map((refused) => expect(refused).rejects.toBeInstanceOf(LockClientClosedError)),
      );
      expect(await data()).toEqual(bytes(1n));
    });

    it('shares its key with no other recipe', () => {
      const { mine, key } = stage();
      of(mine);
      expect(() => mine.mutex(key)).toThrow(LockKeyError);
      expect(() => mine.locks.atomicInteger(key)).toThrow(LockKeyError);
      expect(() => mine.locks.semaphore(`${key}-lock`, { permits: 1 })).toThrow(LockKeyError);
      expect(mine.locks.atomicLong(key).key).toBe(key);
    });
  });

  /** The counter of a client that knows of all that has happened so far. */
  async function caughtUp(client: Client): Promise<DistributedAtomicLong> {
    await stage().caughtUp(client);
    return of(client);
  }
}

/**
 * Whenever the client has read the data of `path`, `meddle` comes first, before the client can do anything about what it has
 * read; with the number of the reading, from 1.
 *
 * @returns what ends that
 */
export function afterReading(
  { connection }: Client,
  path: string,
  meddle: (reading: number) => Promise<unknown>,
): () => void {
  const getData = connection.getData.bind(connection);
  let readings = 0;
  const spy = jest.spyOn(connection, 'getData').mockImplementation(async (asked, watcher) => {
    const seen = await getData(asked, watcher);
    if (asked === path) await meddle((readings += 1));
    return seen;
  });
  return () => spy.mockRestore();
}
