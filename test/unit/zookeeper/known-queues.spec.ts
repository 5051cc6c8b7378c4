import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Lease } from '../../../lib/core/lease.js';
import { CreateMode } from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { eventually, isSettled } from '../../support/time.js';
import { type Client } from '../../contract/backends/zookeeper.js';
import { useTwoClients } from './world.js';

const PATH = '/locks/door';
const EMPTY = Buffer.alloc(0);

/** On the embedded tree a request takes effect when it is sent, and the news of it come in a later turn. */
describe('A lock that is taken again and again', () => {
  const two = useTwoClients({ isDirect: true });
  const mutex = () => two.mine.mutex('door');

  beforeEach(async () => {
    for (let i = 0; i < 3; i++) await mutex().using(() => {}); // numbers 0, 1, 2
  });

  it('is granted without a look at the queue', async () => {
    expect(await opsOf(() => mutex().using(() => {}))).toEqual(['create', 'delete']);
  });

  it('is looked at again when another client was there in between', async () => {
    const node = await strangersNode();
    const ops = await opsOf(async () => expect(await mutex().tryAcquire()).toBeUndefined());
    expect(ops).toEqual(['create', 'getChildren', 'delete']);
    await two.theirs.connection.delete(node);
    await using lease = await mutex().tryAcquire();
    expect(lease?.isHeld).toBe(true);
  });

  it('is looked at by the second of two callers that come at once', async () => {
    const [first, second] = await Promise.all([mutex().tryAcquire(), mutex().tryAcquire()]);
    expect([first?.isHeld, second]).toEqual([true, undefined]);
    await first!.release();
  });

  it('is looked at when another client has left since the last look', async () => {
    const held = await two.theirs.mutex('door').acquire();
    expect(await mutex().tryAcquire()).toBeUndefined();
    expect(await mutex().tryAcquire()).toBeUndefined();
    await held.release();
    await using lease = await mutex().tryAcquire();
    expect(lease?.isHeld).toBe(true);
  });

  it('is looked at again although the directory is made anew while the request is under way', async () => {
    void two.theirs.connection.delete(PATH);
    void two.theirs.connection.create(PATH, EMPTY, CreateMode.CONTAINER);
    const nodes = [0, 1, 2].map(strangersNode);
    const attempt = mutex().tryAcquire(); // its number is 3, as if nothing had happened
    expect(await nodes[2]).toBe(`${PATH}/lock-0000000002`);
    expect(await attempt).toBeUndefined();
  });

  async function strangersNode(): Promise<string> {
    const { connection } = two.theirs;
    return (await connection.create(`${PATH}/lock-`, EMPTY, CreateMode.EPHEMERAL_SEQUENTIAL)).path;
  }

  async function opsOf(work: () => Promise<unknown>): Promise<string[]> {
    const before = two.mine.requests.length;
    await work();
    return two.mine.requests.slice(before).map(({ op }) => op);
  }
});

describe('The queue of a lock', () => {
  const two = useTwoClients({ isDirect: true });

  it('is not listed by waiters of one client that follow each other', async () => {
    const { mine } = two;
    expect(await listsWhileServed(mine, mine, mine, mine)).toBe(0);
  });

  it('is not listed by a waiter that follows one node of another client, which it has seen leave', async () => {
    const { mine, theirs } = two;
    expect(await listsWhileServed(theirs, mine, theirs, mine)).toBe(0);
  });

  it('is listed by a waiter that follows more nodes of another client, in a short queue', async () => {
    const { mine, theirs } = two;
    expect(await listsWhileServed(theirs, mine, theirs, theirs, mine)).toBe(1);
  });

  it('is not listed in a long queue: the few nodes in between are asked for', async () => {
    const { mine, theirs } = two;
    const three = [theirs, theirs, mine];
    const many = Array.from({ length: 60 }, () => theirs);
    const lists = await listsWhileServed(theirs, mine, ...three, ...three, ...many, mine);
    expect(lists).toBe(1); // by the last, behind the many
    const asked = mine.requests.filter(({ op, path }) => op === 'exists' && path.includes('lock-'));
    expect(asked).toHaveLength(2);
  });

  it('is waited for where one of the nodes in between is still there', async () => {
    const { mine, theirs } = two;
    const waiters = [];
    const stop = new AbortController();
    const first = await queued(theirs);
    for (let n = 0; n < 2; n++) waiters.push(await queued(theirs));
    const nearest = await queued(theirs, stop.signal);
    const last = await queued(mine);
    for (let n = 0; n < 60; n++) waiters.push(await queued(theirs));
    waiters.push(await queued(mine)); // so that it knows how many they are
    stop.abort();
    await expect(nearest.lease).rejects.toMatchObject({ code: 'LOCK_ABORTED' });
    await mine.connection.sync('/');
    await mine.connection.sync('/');
    expect(await isSettled(last.lease)).toBe(false);
    for (const { lease } of [first, ...waiters.slice(0, 2), last, ...waiters.slice(2)])
      await (await lease).release();
  });

  it('does not mislead a waiter by one of the same client that goes before its turn', async () => {
    const stop = new AbortController();
    const first = await queued(two.theirs);
    const given = await queued(two.mine, stop.signal);
    const last = await queued(two.mine);
    stop.abort();
    await expect(given.lease).rejects.toMatchObject({ code: 'LOCK_ABORTED' });
    await eventually('it has left', async () => (await participants()).length === 2);
    await two.mine.connection.sync('/');
    expect(await isSettled(last.lease)).toBe(false);
    await (await first.lease).release();
    await (await last.lease).release();
  });

  const participants = () => two.mine.mutex('door').participants();
  const lists = () => two.mine.requests.filter(({ op }) => op === 'getChildren').length;

  /** An acquire, when it queues and has set its watches. */
  async function queued(client: Client, signal?: AbortSignal): Promise<{ lease: Promise<Lease> }> {
    const length = (await participants()).length;
    const lease = client.mutex('door').acquire({ signal });
    lease.catch(() => {}); // read by the test, later
    await eventually('it queues', async () => (await participants()).length > length);
    await client.connection.sync('/');
    return { lease };
  }

  /** How often the first asks for the queue while waiters of these clients are served. */
  async function listsWhileServed(...clients: Client[]): Promise<number> {
    const waiters = [];
    for (const client of clients) waiters.push(await queued(client));
    const before = lists();
    for (const { lease } of waiters) await (await lease).release();
    return lists() - before;
  }
});
