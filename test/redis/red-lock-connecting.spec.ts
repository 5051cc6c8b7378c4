import { describe, expect, it } from '@jest/globals';
import { LockConnectionError } from '../../lib/core/errors/index.js';
import { noMoreHandlesThan, openHandles } from '../e2e/support/open-handles.js';
import { asOwn } from '../support/as-own.js';
import { eventually } from '../support/eventually.js';
import { onRedLock } from './red-lock-stage.js';

describe('A client of five servers', () => {
  const stage = onRedLock();

  it('connects while a minority is down, and uses it once it is up', async () => {
    const { key, servers } = stage();
    await servers.kill(1, 3);
    const client = await stage().client();
    const lease = await client.mutex(key).acquire();
    expect(await servers.having(key)).toBe(3);
    await lease.release();
    await servers.restore();
    await eventually('a lock is on all of them', async () => {
      const next = await client.mutex(key).acquire();
      const having = await servers.having(key);
      await next.release();
      return having === 5;
    });
  });

  it('gives up within its connectTimeout while a majority is down, and leaves nothing open', async () => {
    const before = openHandles();
    await stage().servers.kill(0, 1, 2);
    const client = await stage().unconnected({ connectTimeout: 500 });
    const startedAt = performance.now();
    const refusal = await client.connect().catch((error: unknown) => error);
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    expect(refusal).toBeInstanceOf(LockConnectionError);
    expect(String(refusal)).toMatch(
      /could not connect to 3 of its 5 Redis servers within 500 ms \(server \d of 5: .*ECONNREFUSED.*\)\. Check `nodes`/,
    );
    await noMoreHandlesThan(before);
  });

  it('is connected once, however often connect is called', async () => {
    const before = openHandles();
    const client = await stage().unconnected();
    await Promise.all([client.connect(), client.connect()]);
    await client.connect();
    await (await client.mutex(stage().key).acquire()).release();
    await client.close();
    await client.close();
    await expect(client.connect()).rejects.toMatchObject({ code: 'LOCK_CLIENT_CLOSED' });
    await noMoreHandlesThan(before);
  });

  it('can be closed while it connects', async () => {
    const before = openHandles();
    await stage().servers.kill(0, 1, 2);
    const client = await stage().unconnected();
    const connecting = expect(client.connect()).rejects.toMatchObject({
      code: 'LOCK_CLIENT_CLOSED',
    });
    await Promise.all([client.close(), connecting]);
    await noMoreHandlesThan(before);
  });

  it('keeps an acquire waiting until it is connected', async () => {
    const client = await stage().unconnected();
    const waiting = client.mutex(stage().key).acquire({ wait: 20_000 });
    await client.connect();
    expect(await waiting).toMatchObject({ isHeld: true });
  });

  it('accepts clients of a user, and never closes them', async () => {
    const users = stage().servers.all.map((server) => server.client());
    await Promise.all(users.map((user) => user.ping()));
    const listeners = () => users.map((user) => user.listenerCount('ready'));
    const before = listeners();
    const client = await stage().client({ nodes: users });
    const lease = await client.mutex(stage().key).acquire();
    await client.close();
    expect(lease.isHeld).toBe(false);
    expect(users.map(({ status }) => status)).toEqual(users.map(() => 'ready'));
    expect(listeners()).toEqual(before);
    expect(await Promise.all(users.map((user) => user.exists(stage().key)))).toEqual([
      0, 0, 0, 0, 0,
    ]);
    for (const user of users) user.disconnect();
  });

  it('continues when a minority of the connections has ended for good, and rejects when it is a majority', async () => {
    const users = stage().servers.all.map((server) => server.client());
    const client = await stage().client({ nodes: users.map(asOwn) });
    const mutex = client.mutex(stage().key);
    for (const user of users.slice(0, 2)) user.disconnect();
    await (await mutex.acquire({ wait: 5_000 })).release();
    for (const user of users) user.disconnect();
    await expect(mutex.tryAcquire()).rejects.toBeInstanceOf(LockConnectionError);
    await expect(mutex.acquire({ wait: 500 })).rejects.toBeInstanceOf(LockConnectionError);
  });

  it('reports what a majority refuses, and tolerates a minority that does', async () => {
    const { key, servers } = stage();
    const client = await stage().client();
    for (const i of [0, 1]) await servers.all[i]!.command('SET', key, 'no lock');
    await (await client.mutex(key).acquire({ wait: 5_000 })).release();
    await servers.all[2]!.command('SET', key, 'no lock');
    const refusal = { code: 'LOCK_KEY', key };
    await expect(client.mutex(key).tryAcquire()).rejects.toMatchObject(refusal);
    await expect(client.mutex(key).acquire()).rejects.toMatchObject(refusal);
  });
});
