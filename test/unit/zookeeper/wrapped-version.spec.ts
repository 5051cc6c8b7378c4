import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LockKeyError } from '../../../lib/core/errors/index.js';
import { Client } from '../../contract/client.js';
import { EmbeddedBackend } from '../../contract/embedded-backend.js';
import { AgedTransport } from '../../support/aged-transport.js';
import { eventually } from '../../support/eventually.js';

const MOST = 2 ** 31 - 1;
const LEAST = -(2 ** 31);

describe('A node that was changed more than 2^31 times (CURATOR-688)', () => {
  let mine: Client;
  let theirs: Client;
  let network: AgedTransport;

  beforeEach(async () => {
    const { transport, servers } = await new EmbeddedBackend().connect();
    network = new AgedTransport(transport);
    mine = new Client(network, servers, {});
    theirs = new Client(network, servers, {});
    await Promise.all([mine.locks.connect(), theirs.locks.connect()]);
  });
  afterEach(() => Promise.all([mine.locks.close(), theirs.locks.close()]));

  it('goes on as a shared count, for all clients that follow it', async () => {
    network.age = MOST - 1;
    const [count, other] = [mine, theirs].map(({ locks }) => locks.sharedCount('limit', 0));
    await count!.start();
    await other!.start();
    for (const [step, version] of [MOST, LEAST, LEAST + 1].entries()) {
      expect(await count!.trySetCount(step + 1, count!.versionedCount)).toBe(true);
      expect(count!.versionedCount).toMatchObject({ value: step + 1, version });
      await eventually('it is known', () => other!.count === step + 1);
    }
    expect(await other!.trySetCount(9)).toBe(true);
    await eventually('it is known', () => count!.count === 9);
  });

  it('goes on as an atomic number', async () => {
    network.age = MOST - 1;
    const [counter, other] = [mine, theirs].map(({ locks }) => locks.atomicLong('hits'));
    for (let step = 0; step < 4; step++) {
      expect(await counter!.increment()).toMatchObject({ succeeded: true });
      expect(await other!.increment()).toMatchObject({ succeeded: true });
    }
    expect(await counter!.get()).toBe(8n);
  });

  it('is not set as if anything were expected when its version has become -1', async () => {
    network.age = -2;
    const count = mine.locks.sharedCount('limit', 0);
    await count.start();
    expect(await count.trySetCount(1)).toBe(true);
    expect(count.versionedCount).toMatchObject({ value: 1, version: -1 });
    const refused = count.trySetCount(2);
    await expect(refused).rejects.toBeInstanceOf(LockKeyError);
    await expect(refused).rejects.toThrow(/-1/);
    await expect(count.trySetCount(2, count.versionedCount)).rejects.toBeInstanceOf(LockKeyError);
    expect(count.count).toBe(1);
    await count.setCount(2); // whatever it is: then it goes on
    expect(await count.trySetCount(3)).toBe(true);
    expect(count.versionedCount).toMatchObject({ value: 3, version: 1 });
  });

  it('is not counted up as if anything were expected when its version has become -1', async () => {
    network.age = -2;
    const counter = mine.locks.atomicInteger('hits');
    expect(await counter.increment()).toMatchObject({ postValue: 1 });
    expect(await counter.increment()).toMatchObject({ postValue: 2 });
    await expect(counter.increment()).rejects.toBeInstanceOf(LockKeyError);
    await expect(counter.compareAndSet(2, 3)).rejects.toBeInstanceOf(LockKeyError);
    expect(await counter.get()).toBe(2);
    await counter.forceSet(2);
    expect(await counter.increment()).toMatchObject({ succeeded: true, postValue: 3 });
  });
});
