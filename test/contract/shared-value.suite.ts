import { describe, expect, it } from '@jest/globals';
import {
  LockClientClosedError,
  LockOptionsError,
  SharedValueClosedError,
} from '../../lib/core/errors/index.js';
import type { SharedValue } from '../../lib/zookeeper/shared/shared-value.js';
import { eventually } from '../support/time.js';
import { type Deployment, onStage } from './backends/stage.js';
import { type Backend, type Client, Stage } from './backends/zookeeper.js';

/** Everything that a shared value promises beyond what a shared count does; Curator tests it through that only. */
export function sharedValueSuite(on: Deployment<Backend>): void {
  describe(`A shared value on ${on.name}`, () => {
    const stage = onStage(() => Stage.build(on.backend()));

    const started = async ({ locks }: Client, seed: string): Promise<SharedValue> => {
      const value = locks.sharedValue(stage().key, Buffer.from(seed));
      await value.start();
      return value;
    };
    const becomes = (value: SharedValue, expected: string) =>
      eventually(`it is ${expected}`, () => value.value.toString() === expected);
    const data = async () => {
      const { stranger, path } = stage();
      await stranger.sync(path);
      return (await stranger.getData(path)).data.toString();
    };

    on.part('of several clients', 'deployment', () => {
      it('keeps the first seed, on a node that stays', async () => {
        const { mine, theirs, stranger, path } = stage();
        const [first, second] = [await started(mine, 'green'), await started(theirs, 'blue')];
        expect([first.value.toString(), second.value.toString()]).toEqual(['green', 'green']);
        await stranger.sync(path);
        expect(await stranger.exists(path)).toMatchObject({ ephemeralOwner: '0', version: 0 });
      });

      it('notifies all clients, each listener once of each change', async () => {
        const { mine, theirs } = stage();
        const [value, writer] = [await started(mine, ''), await started(theirs, '')];
        const told: string[] = [];
        value.onChange((bytes) => told.push(bytes.toString()));
        for (const text of ['a', 'b', 'b', 'longer']) {
          await writer.setValue(Buffer.from(text));
          await stage().caughtUp(mine);
        }
        expect(told).toEqual(['a', 'b', 'longer']);
      });

      it('is set by one of two clients that try at the same time', async () => {
        const { mine, theirs } = stage();
        const values = [await started(mine, ''), await started(theirs, '')];
        const tried = await Promise.all(
          values.map((value, n) => value.trySetValue(Buffer.from(`by ${n}`))),
        );
        expect(tried.filter(Boolean)).toHaveLength(1);
        await Promise.all(values.map((value) => becomes(value, `by ${tried.indexOf(true)}`)));
      });
    });

    on.part('over a lost connection', 'recipe', () => {
      it('is known again, and in the next session', async () => {
        const { mine, theirs } = stage();
        const [value, writer] = [await started(mine, 'a'), await started(theirs, 'a')];
        await stage().down();
        await stage().up();
        await writer.setValue(Buffer.from('b'));
        await becomes(value, 'b');
        await stage().expire(mine);
        await writer.setValue(Buffer.from('c'));
        await becomes(value, 'c');
      });
    });

    on.part('of bad values', 'client', () => {
      it.each([
        ['a text', 'text'],
        ['a number', 4],
        ['nothing', undefined],
        ['too many bytes', Buffer.alloc(1_000_001)],
      ])('cannot be %s', async (_, wrong) => {
        const { mine, key } = stage();
        const bytes = wrong as Buffer;
        expect(() => mine.locks.sharedValue(key, bytes)).toThrow(LockOptionsError);
        const value = await started(mine, 'a');
        await expect(value.setValue(bytes)).rejects.toBeInstanceOf(LockOptionsError);
        await expect(value.trySetValue(bytes)).rejects.toBeInstanceOf(LockOptionsError);
        expect(await data()).toBe('a');
      });
    });

    on.part('with its node', 'server', () => {
      it('begins with its seed, and is what it was set to', async () => {
        const value = await started(stage().mine, 'green');
        expect(value.value.toString()).toBe('green');
        await value.setValue(Buffer.from('blue'));
        expect(value.value.toString()).toBe('blue');
        expect(await value.trySetValue(Buffer.from('red'))).toBe(true);
        expect(value.value.toString()).toBe('red');
        expect(await data()).toBe('red');
      });

      it('may be empty, and anything that others write', async () => {
        const { mine, stranger, path } = stage();
        const value = await started(mine, '');
        expect(value.value).toHaveLength(0);
        await stranger.setData(path, Buffer.from([0, 255, 128]));
        await eventually('it is known', () => value.value.length === 3);
        expect([...value.value]).toEqual([0, 255, 128]);
        await value.setValue(new Uint8Array());
        expect(await data()).toBe('');
      });

      it('does not change with the bytes that were given for it, or got', async () => {
        const { mine, key } = stage();
        const seed = Buffer.from('seed');
        const value = mine.locks.sharedValue(key, seed);
        seed.fill('x');
        await value.start();
        expect(await data()).toBe('seed');
        const told: string[] = [];
        value.onChange((bytes) => bytes.fill('x'));
        value.onChange((bytes) => told.push(bytes.toString()));

        const given = Buffer.from('given');
        const isSet = value.setValue(given);
        given.fill('x');
        await isSet;
        value.value.fill('x');
        value.versionedValue.value.fill('x');
        expect(value.value.toString()).toBe('given');
        expect(await data()).toBe('given');

        const tried = Buffer.from('tried');
        const isTried = value.trySetValue(tried, value.versionedValue);
        tried.fill('x');
        expect(await isTried).toBe(true);
        expect(value.value.toString()).toBe('tried');
        expect(told).toEqual(['given', 'tried']);
      });

      it('is set only if it is still what the caller has seen', async () => {
        const { mine, stranger, path } = stage();
        const value = await started(mine, 'one');
        const first = value.versionedValue;
        expect(first.version).toBe(0);
        expect(await value.trySetValue(Buffer.from('two'), first)).toBe(true);
        const second = value.versionedValue;
        expect(second.version).toBe(1);
        expect(second.zxid).toBeGreaterThan(first.zxid);
        expect(await value.trySetValue(Buffer.from('no'), first)).toBe(false);
        const wrong = { ...second, value: Buffer.from('one') };
        expect(await value.trySetValue(Buffer.from('no'), wrong)).toBe(false);
        await stranger.setData(path, Buffer.from('three'));
        expect(await value.trySetValue(Buffer.from('no'), second)).toBe(false);
        await becomes(value, 'three');
        expect(await data()).toBe('three');
      });

      it('may be closed twice, and is then neither read nor set any more', async () => {
        const { mine, theirs } = stage();
        const [value, writer] = [await started(mine, 'a'), await started(theirs, 'a')];
        const told: string[] = [];
        value.onChange((bytes) => told.push(bytes.toString()));
        value.close();
        value.close();
        await writer.setValue(Buffer.from('b'));
        await stage().caughtUp(mine);
        expect(value.value.toString()).toBe('a');
        expect(told).toEqual([]);
        const bytes = Buffer.from('c');
        await expect(value.start()).rejects.toBeInstanceOf(SharedValueClosedError);
        await expect(value.setValue(bytes)).rejects.toBeInstanceOf(SharedValueClosedError);
        await expect(value.trySetValue(bytes)).rejects.toThrow(
          /shared value "key-\d+".*was closed/,
        );
      });

      it('is not set by a client that was closed', async () => {
        const { theirs } = stage();
        const value = await started(theirs, 'a');
        await theirs.locks.close();
        const bytes = Buffer.from('b');
        await expect(value.setValue(bytes)).rejects.toBeInstanceOf(LockClientClosedError);
        await expect(value.trySetValue(bytes)).rejects.toBeInstanceOf(LockClientClosedError);
        expect(await data()).toBe('a');
      });

      it('is up to a million bytes', async () => {
        const value = await started(stage().mine, 'a');
        await value.setValue(Buffer.alloc(1_000_000, 7));
        expect(value.value).toHaveLength(1_000_000);
        expect(await data()).toHaveLength(1_000_000);
        await value.setValue(Buffer.from('b')); // the connection has survived that
        expect(await data()).toBe('b');
      });
    });
  });
}
