import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Request } from '../../../lib/zookeeper/connection/transport.js';
import {
  CreateMode,
  type ZooKeeperConnection,
} from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import type { InterProcessMutex } from '../../../lib/zookeeper/locks/inter-process-mutex.js';
import { Client } from '../../contract/client.js';
import { EmbeddedBackend } from '../../contract/embedded-backend.js';

const PATH = '/locks/door';
const EMPTY = Buffer.alloc(0);

/** On the embedded tree a request takes effect when it is sent, and the news of it come in a later turn. */
describe('A lock that is taken again and again', () => {
  let client: Client;
  let mutex: InterProcessMutex;
  let stranger: ZooKeeperConnection;

  beforeEach(async () => {
    const backend = new EmbeddedBackend();
    const connect = async () => {
      const { transport, servers } = await backend.connect();
      const connected = new Client(transport, servers, {});
      await connected.locks.connect();
      return connected;
    };
    client = await connect();
    stranger = (await connect()).connection;
    mutex = client.mutex('door');
    for (let i = 0; i < 3; i++) await mutex.using(() => {}); // numbers 0, 1, 2
  });

  it('is granted without a look at the queue', async () => {
    expect(await opsOf(() => mutex.using(() => {}))).toEqual(['create', 'delete']);
  });

  it('is looked at again when another client was there in between', async () => {
    const node = await stranger.create(`${PATH}/lock-`, EMPTY, CreateMode.EPHEMERAL_SEQUENTIAL);
    const ops = await opsOf(async () => expect(await mutex.tryAcquire()).toBeUndefined());
    expect(ops).toEqual(['create', 'getChildren', 'delete']);
    await stranger.delete(node);
    await using lease = await mutex.tryAcquire();
    expect(lease?.isHeld).toBe(true);
  });

  it('is looked at by the second of two callers that come at once', async () => {
    const [first, second] = await Promise.all([mutex.tryAcquire(), mutex.tryAcquire()]);
    expect([first?.isHeld, second]).toEqual([true, undefined]);
    await first!.release();
  });

  it('is looked at again although the directory is made anew while the request is under way', async () => {
    void stranger.delete(PATH);
    void stranger.create(PATH, EMPTY, CreateMode.CONTAINER);
    const nodes = [0, 1, 2].map(() =>
      stranger.create(`${PATH}/lock-`, EMPTY, CreateMode.EPHEMERAL_SEQUENTIAL),
    );
    const attempt = mutex.tryAcquire(); // its number is 3, as if nothing had happened
    expect(await nodes[2]).toBe(`${PATH}/lock-0000000002`);
    expect(await attempt).toBeUndefined();
  });

  async function opsOf(work: () => Promise<unknown>): Promise<Request['op'][]> {
    const before = client.requests.length;
    await work();
    return client.requests.slice(before).map(({ op }) => op);
  }
});
