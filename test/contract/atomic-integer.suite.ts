import { expect, it } from '@jest/globals';
import {
  CounterOverflowError,
  LockKeyError,
  LockOptionsError,
} from '../../lib/core/errors/index.js';
import { eventually } from '../support/eventually.js';
import type { Client } from './client.js';
import type { Stage } from './stage.js';
import { ZooKeeperSemaphoreStage } from './zookeeper-semaphore-stage.js';

const MOST = 2 ** 31 - 1;
const LEAST = -(2 ** 31);

/** What a 32-bit number does otherwise than one of 64 bits. */
export function atomicIntegerSuite(stage: () => Stage): void {
  const of = ({ locks }: Client) => locks.atomicInteger(stage().key);
  const data = async () => {
    const { stranger, path } = stage();
    await stranger.sync(path);
    return (await stranger.getData(path)).data;
  };
  const expectValue = async (expected: number) => {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(expected);
    expect(await data()).toEqual(bytes);
  };

  it('counts up and down from 0, in numbers', async () => {
    const counter = of(stage().mine);
    expect(await counter.get()).toBe(0);
    const change = async (made: ReturnType<typeof counter.add>, from: number, to: number) =>
      expect(await made).toMatchObject({ succeeded: true, preValue: from, postValue: to });
    await change(counter.increment(), 0, 1);
    await change(counter.decrement(), 1, 0);
    await change(counter.add(10), 0, 10);
    await change(counter.subtract(5), 10, 5);
    await change(counter.trySet(-2), 5, -2);
    await expectValue(-2);
    await change(counter.compareAndSet(-2, 7), -2, 7);
    expect(await counter.compareAndSet(-2, 8)).toMatchObject({ succeeded: false, preValue: 7 });
    expect(await counter.initialize(9)).toBe(false);
    await counter.forceSet(12);
    expect(await counter.get()).toBe(12);
  });

  it('never goes beyond 32 bits, but to their ends', async () => {
    const counter = of(stage().mine);
    await counter.forceSet(MOST);
    await Promise.all(
      [counter.increment(), counter.add(MOST), counter.subtract(LEAST)].map((beyond) =>
        expect(beyond).rejects.toBeInstanceOf(CounterOverflowError),
      ),
    );
    await expectValue(MOST);
    expect(await counter.add(LEAST)).toMatchObject({ postValue: -1 });
    expect(await counter.add(LEAST + 1)).toMatchObject({ postValue: LEAST });
    await Promise.all(
      [counter.decrement(), counter.add(LEAST), counter.subtract(MOST)].map((beyond) =>
        expect(beyond).rejects.toThrow(/32 bits/),
      ),
    );
    await expectValue(LEAST);
  });

  it.each([1.5, NaN, MOST + 1, LEAST - 1, 1n, '3', undefined])('is never %p', async (wrong) => {
    const counter = of(stage().mine);
    await counter.forceSet(1);
    const value = wrong as number;
    await Promise.all(
      [
        counter.add(value),
        counter.subtract(value),
        counter.trySet(value),
        counter.compareAndSet(value, 2),
        counter.compareAndSet(1, value),
        counter.forceSet(value),
        counter.initialize(value),
      ].map((refused) => expect(refused).rejects.toBeInstanceOf(LockOptionsError)),
    );
    await expectValue(1);
  });

  it('is none where there are eight bytes', async () => {
    const { mine, theirs, key } = stage();
    await mine.locks.atomicLong(key).increment();
    await stage().caughtUp(theirs);
    await expect(of(theirs).increment()).rejects.toBeInstanceOf(LockKeyError);
    expect(await data()).toHaveLength(8);
  });

  it('is a shared count too', async () => {
    const { mine, theirs, key } = stage();
    const count = mine.locks.sharedCount(key, 5);
    await count.start();
    await stage().caughtUp(theirs);
    expect(await of(theirs).add(2)).toMatchObject({ preValue: 5, postValue: 7 });
    await eventually('it is known', () => count.count === 7);
    expect(await count.trySetCount(9)).toBe(true);
    await stage().caughtUp(theirs);
    expect(await of(theirs).increment()).toMatchObject({ preValue: 9, postValue: 10 });
  });

  it('changes the permits of a semaphore that goes by it', async () => {
    const { mine, theirs, key } = stage();
    const semaphores = new ZooKeeperSemaphoreStage(stage);
    const permits = mine.locks.sharedCount(`${key}-permits`, 1);
    await permits.start();
    await using first = await semaphores.of(mine, permits).acquire();
    const { lease: waiting } = await semaphores.queue(mine, permits);
    await stage().caughtUp(theirs);
    const operator = theirs.locks.atomicInteger(`${key}-permits`);
    expect(await operator.increment()).toMatchObject({ succeeded: true, postValue: 2 });
    await using second = await waiting;
    expect([first.isHeld, second.isHeld]).toEqual([true, true]);
    expect(await semaphores.of(mine, permits).tryAcquire()).toBeUndefined();
  });
}
