import { describe, expect, it } from '@jest/globals';
import { LockConnectionError } from '../../lib/core/errors/index.js';
import { onRedLock } from './red-lock-stage.js';

/** Servers that are away in turns, so that the remaining majorities differ; each has one in common with the next. */
const AWAY = [[], [0, 1], [3, 4], [1, 2], [0, 4], [2, 3], []];

describe('The fencing token of a lock on five servers', () => {
  const stage = onRedLock();

  it('is the same for as long as it is held', async () => {
    const client = await stage().client();
    await client.mutex(stage().key).using(async (lease) => {
      const token = await lease.fencingToken();
      expect(await lease.fencingToken()).toBe(token);
      await client.mutex(stage().key).using(async (inner) => {
        expect(await inner.fencingToken()).toBe(token);
      });
    });
  });

  it('grows from holder to holder, whichever majority grants the lock', async () => {
    const { servers, key } = stage();
    const [mine, theirs] = await stage().clients(2);
    const tokens: bigint[] = [];
    for (const away of [...AWAY, ...AWAY]) {
      for (const i of away) servers.all[i]!.freeze();
      const client = tokens.length % 2 === 0 ? mine! : theirs!;
      const lease = await client.mutex(key).acquire({ wait: 20_000 });
      tokens.push(await lease.fencingToken());
      await lease.release();
      for (const i of away) servers.all[i]!.thaw();
      await stage().isEmpty();
    }
    tokens.slice(1).forEach((token, i) => expect(token).toBeGreaterThan(tokens[i]!));
  });

  it('grows although one counter alone is far ahead', async () => {
    const { servers, key } = stage();
    await servers.all[0]!.command('SET', `redisson_lock_token:{${key}}`, 1_000);
    const client = await stage().client();
    const tokenWithout = async (...away: number[]) => {
      for (const i of away) servers.all[i]!.freeze();
      const lease = await client.mutex(key).acquire({ wait: 20_000 });
      const token = await lease.fencingToken();
      await lease.release();
      for (const i of away) servers.all[i]!.thaw();
      await stage().isEmpty();
      return token;
    };
    const first = await tokenWithout(3, 4);
    expect(first).toBe(1_001n);
    expect(await tokenWithout(0, 1)).toBeGreaterThan(first);
  });

  it('is denied to a holder that has lost the lock', async () => {
    const { servers, key } = stage();
    const client = await stage().client();
    const lease = await stage().onAll(client);
    for (const i of [0, 1, 2]) await servers.all[i]!.command('DEL', key); // the holder gets no message
    await expect(lease.fencingToken()).rejects.toMatchObject({ code: 'LOCK_LOST', key });
    expect(lease.isHeld).toBe(false);
  });

  it('is denied, and not waited for indefinitely, when a majority is silent', async () => {
    const { servers, key } = stage();
    const client = await stage().client({ watchdogTimeout: 2_500, nodeTimeout: 500 });
    const lease = await client.mutex(key).acquire();
    for (const i of [0, 1, 2]) servers.all[i]!.freeze();
    await expect(lease.fencingToken()).rejects.toMatchObject({ code: 'LOCK_LOST', key });
    await lease.release();
  });

  it('can be requested again after too few servers reported it', async () => {
    const { servers, key } = stage();
    const users = servers.all.map((server) => server.client({ maxRetriesPerRequest: 0 }));
    const client = await stage().client({ nodes: users });
    const lease = await stage().onAll(client);
    const counter = `redisson_lock_token:{${key}}`;
    for (const i of [0, 1, 2]) await servers.all[i]!.command('LPUSH', counter, 'no counter');
    await expect(lease.fencingToken()).rejects.toBeInstanceOf(LockConnectionError);
    await servers.all[1]!.command('DEL', counter);
    expect(await lease.fencingToken()).toBeGreaterThan(0n);
    for (const user of users) user.disconnect();
  });
});
