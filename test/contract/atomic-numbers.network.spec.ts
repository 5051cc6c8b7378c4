import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { ZooKeeperError } from '../../lib/zookeeper/connection/zookeeper-error.js';
import type { DistributedAtomicLong } from '../../lib/zookeeper/atomic/distributed-atomic-number.js';
import { TestClient } from '../integration/support/test-client.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { OpCode } from '../support/op-code.js';
import { ZooKeeperServer } from '../support/zookeeper-server.js';

describe('An atomic number behind a bad network', () => {
  let server: ZooKeeperServer;
  let proxy: FaultProxy;
  /** The client behind the bad network. */
  let client: TestClient;
  /** The client with a good network. */
  let other: TestClient;
  let path: string;
  let counter: DistributedAtomicLong;

  beforeAll(async () => {
    server = await ZooKeeperServer.start();
    proxy = await FaultProxy.start(server);
    other = await TestClient.connect(server.connectString);
  });
  afterAll(async () => {
    await other.locks.close();
    proxy.stop();
    await server.stop();
  });

  beforeEach(async () => {
    path = `/locks/${randomUUID()}`;
    client = await TestClient.connect(proxy.connectString);
    counter = client.locks.atomicLong(path);
    await other.locks.atomicLong(path).forceSet(5n);
  });
  afterEach(async () => {
    proxy.cut(); // first: the driver blocks in close() until it is answered, and the proxy lives on this event loop
    await client.locks.close();
  });

  /** Cuts the connection of `client` at its next such request about the number. */
  function cut(when: 'before' | 'after', operation: keyof typeof OpCode): Promise<unknown> {
    const trap = when === 'before' ? proxy.cutBefore : proxy.cutAfter;
    return trap.call(
      proxy,
      (request) => request.opcode === OpCode[operation] && request.path === path,
    );
  }
  const value = () => other.locks.atomicLong(path).get();

  it.each([
    ['before', 'getData'],
    ['after', 'getData'],
    ['before', 'setData'],
  ] as const)('that breaks %s its %s is counted once', async (when, operation) => {
    const isCut = cut(when, operation);
    const changed = await counter.increment();
    await isCut;
    expect(changed).toMatchObject({ succeeded: true, preValue: 5n, postValue: 6n });
    expect(await value()).toBe(6n);
  });

  it('that breaks after its setData is counted once, and in doubt', async () => {
    const isCut = cut('after', 'setData');
    const error: unknown = await counter.increment().catch((thrown: unknown) => thrown);
    await isCut;
    expect(error).toBeInstanceOf(ZooKeeperError);
    expect(error).toMatchObject({ maybeDone: true, path });
    expect(await value()).toBe(6n);
    expect(await counter.increment()).toMatchObject({ succeeded: true, postValue: 7n });
  });

  it('that breaks before its create is made once', async () => {
    await other.connection.delete(path);
    const isCut = cut('before', 'create');
    const changed = await counter.increment();
    await isCut;
    expect(changed).toMatchObject({ succeeded: true, preValue: 0n, postValue: 1n });
    expect(await value()).toBe(1n);
  });

  it('that breaks after its create is made once, and in doubt', async () => {
    await other.connection.delete(path);
    const isCut = cut('after', 'create');
    const error: unknown = await counter.increment().catch((thrown: unknown) => thrown);
    await isCut;
    expect(error).toMatchObject({ maybeDone: true, path });
    expect(await value()).toBe(1n);
  });

  it.each(['before', 'after'] as const)('that breaks %s a set by force is set', async (when) => {
    const isCut = cut(when, 'setData');
    await counter.forceSet(9n);
    await isCut;
    expect(await value()).toBe(9n);
  });

  it.each(['before', 'after'] as const)(
    'that breaks %s the set of a shared value is followed all the same',
    async (when) => {
      const shared = client.locks.sharedValue(`${path}-value`, Buffer.from('a'));
      await shared.start();
      const trap = when === 'before' ? proxy.cutBefore : proxy.cutAfter;
      const isCut = trap.call(proxy, ({ opcode }) => opcode === OpCode.setData);
      await shared.setValue(Buffer.from('b'));
      await isCut;
      expect(shared.value.toString()).toBe('b');
      const { data } = await other.connection.getData(`${path}-value`);
      expect(data.toString()).toBe('b');
    },
  );
});
