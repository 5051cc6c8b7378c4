import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import {
  LockConnectionError,
  LockLostError,
  LockTimeoutError,
} from '../../lib/core/errors/index.js';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import type { RedisLockOptions } from '../../lib/redis/redis-options.js';
import { noMoreHandlesThan, openHandles } from '../e2e/support/open-handles.js';
import { eventually } from '../support/eventually.js';
import { RedisProxy } from '../support/redis-proxy.js';
import { KEPT } from '../support/kept-keys.js';
import { RedisServer } from '../support/redis-server.js';
import { RECIPES } from './recipes.js';

let server: RedisServer;
const open = new Set<RedisLockClient>();

beforeAll(async () => {
  server = await RedisServer.start();
});
afterEach(async () => {
  await Promise.all([...open].map((client) => client.close()));
  open.clear();
});
afterAll(() => server.stop());

async function connected(options: RedisLockOptions): Promise<RedisLockClient> {
  const client = await createRedisLockClient('users', options);
  open.add(client);
  await client.connect();
  return client;
}

/** All keys of a lock, except its token counter. */
async function keysOf(key: string): Promise<string[]> {
  const keys = (await server.command('keys', `*${key}*`)) as string[];
  return keys.filter((name) => !KEPT.test(name));
}

/** Number of listeners on a client, by event. */
function listenersOf(user: Redis): Record<string, number> {
  return Object.fromEntries(
    user.eventNames().map((event) => [String(event), user.listenerCount(event)]),
  );
}

describe('A client of a user', () => {
  it('keeps working when the lock client is closed, with no listener left on it', async () => {
    const user = server.client();
    await user.ping();
    const before = listenersOf(user);
    for (let i = 0; i < 3; i++) {
      const client = await connected({ client: user });
      const lease = await client.mutex('key').acquire();
      const contended = new Promise<void>(
        (resolve) => void client.on('contended', () => resolve()),
      );
      const waiting = expect(client.mutex('key').acquire()).rejects.toBeDefined();
      await contended;
      await Promise.all([client.close(), waiting]);
      expect(lease.isHeld).toBe(false);
    }
    expect(listenersOf(user)).toEqual(before);
    expect([user.status, await user.ping()]).toEqual(['ready', 'PONG']);
    expect(await user.exists('key')).toBe(0);
  });

  it('may serve several lock clients at a time, which exclude each other', async () => {
    const user = server.client();
    const [mine, theirs] = [await connected({ client: user }), await connected({ client: user })];
    await using _ = await mine.mutex('shared').acquire();
    expect(await theirs.mutex('shared').tryAcquire()).toBeUndefined();
    await theirs.close();
    expect(await mine.mutex('shared').isLocked()).toBe(true);
  });

  it('that was closed before is rejected', async () => {
    const user = server.client();
    user.disconnect();
    await eventually('it is closed', () => user.status === 'end');
    const refusal = await connected({ client: user }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(LockConnectionError);
    expect(String(refusal)).toMatch(/was already closed\. Hand over one that is open/);
  });

  it('that is closed later leaves the locks alone', async () => {
    const user = server.client();
    const client = await connected({ client: user });
    for (const [name, lock] of Object.entries(RECIPES)) {
      const held = await lock(client, name).acquire();
      if (name === Object.keys(RECIPES)[0]) user.disconnect();
      await held.release();
      expect(held.signal.reason).not.toBeInstanceOf(LockLostError);
    }
    expect([user.status, client.status().health]).toEqual(['end', 'up']);
  });

  it('that would give up connecting does not make locks give up', async () => {
    const proxy = await RedisProxy.start(server);
    try {
      const user = server.client({ port: proxy.port, retryStrategy: () => null });
      const client = await connected({ client: user });
      proxy.cut();
      await eventually('it has given up', () => user.status === 'end');
      await (await client.mutex('goes on').acquire({ wait: 20_000 })).release();
      await client.close();
    } finally {
      await proxy.stop();
    }
  });
});

describe.each(Object.entries(RECIPES))(
  'A client that gives up commands, under a %s,',
  (_, lock) => {
    const PAUSE = 400;

    async function paused(): Promise<RedisLockClient> {
      const client = await connected({ client: server.client({ commandTimeout: 100 }) });
      await server.command('client', 'pause', PAUSE);
      return client;
    }

    it('holds once what the server grants several times later', async () => {
      const client = await paused();
      const lease = await lock(client, '{late}').acquire();
      expect(lease.isHeld).toBe(true);
      await lease.release();
      await client.close(); // its background work is done then
      expect(await keysOf('{late}')).toEqual([]);
    });

    it('leaves nothing locked that the server grants after the wait has ended', async () => {
      const client = await paused();
      const late = lock(client, '{too late}').acquire({ wait: 150 });
      await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
      await client.close();
      expect(await keysOf('{too late}')).toEqual([]);
    });
  },
);

describe.each(Object.entries(RECIPES))(
  'A client that ioredis does not reconnect, under a %s,',
  (name, lock) => {
    const blocker = name === 'read lock' ? RECIPES['write lock']! : lock;
    let proxy: RedisProxy;

    beforeEach(async () => {
      proxy = await RedisProxy.start(server);
    });
    afterEach(() => proxy.stop());

    const mortal = (options: RedisLockOptions = {}) => {
      const { host, port } = proxy;
      return connected({ connect: { host, port, retryStrategy: () => null }, ...options });
    };

    it('ends the wait of all waiters', async () => {
      const holder = await connected({ connect: server.url });
      const key = `${name}, ended`;
      await using _ = await blocker(holder, key).acquire();
      const wanted = lock(await mortal(), key);
      const waits = [wanted.acquire(), wanted.acquire(), wanted.acquire({ wait: 20_000 })];
      const ends = Promise.all(waits.map((wait) => wait.catch((error: unknown) => error)));
      await eventually('it listens', async () => {
        const channels = (await server.command('pubsub', 'channels')) as string[];
        return channels.some((channel) => channel.includes(key));
      });
      proxy.cut();

      for (const end of await ends) expect(end).toBeInstanceOf(LockConnectionError);
      await expect(wanted.tryAcquire()).rejects.toBeInstanceOf(LockConnectionError);
    });

    it('loses what was held, and release resolves', async () => {
      const lease = await lock(await mortal({ watchdogTimeout: 300 }), 'held').acquire();
      const lost = new Promise((resolve) => lease.signal.addEventListener('abort', resolve));
      proxy.cut();
      await lost;
      expect(lease.signal.reason).toBeInstanceOf(LockLostError);
      await lease.release();
    });
  },
);

describe('A client of our own', () => {
  it('is closed with the lock client, with everything that it has opened', async () => {
    const before = openHandles();
    const client = await connected({ connect: server.url });
    const lease = await client.mutex('ours').acquire();
    const waiting = client.mutex('ours').acquire({ wait: 60_000 });
    const fair = client.mutex('ours, fair', { fair: true });
    const other = await fair.acquire({ lease: 60_000 });
    const queued = fair.acquire({ wait: 60_000 });
    const refused = Promise.all(
      [waiting, queued].map((wait) => expect(wait).rejects.toMatchObject({ client: 'users' })),
    );
    await eventually('it listens', async () => {
      const channels = (await server.command('pubsub', 'channels')) as string[];
      return channels.length > 0;
    });
    await client.close();
    await refused;
    expect([lease.isHeld, other.isHeld]).toEqual([false, false]);
    expect(await server.command('keys', '*ours*')).toEqual([]);
    await noMoreHandlesThan(before);
  });

  it.each(Object.entries(RECIPES))(
    'keeps an acquire of a %s waiting until it is connected',
    async (name, lock) => {
      const holder = await connected({ connect: server.url });
      const blocker = name === 'read lock' ? RECIPES['write lock']! : lock;
      const held = await blocker(holder, `early ${name}`).acquire();

      const client = await createRedisLockClient('users', { connect: server.url });
      open.add(client);
      const late = lock(client, `free ${name}`).tryAcquire({ wait: 20 });
      await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
      const waiting = lock(client, `early ${name}`).acquire({ wait: 20_000 });
      await client.connect();
      await held.release();
      expect((await waiting).isHeld).toBe(true);
    },
  );

  it('is connected once, however often connect is called', async () => {
    const before = openHandles();
    const holder = await connected({ connect: server.url });
    const client = await connected({ connect: server.url });
    const lease = await holder.mutex('twice').acquire();
    const waiting = client.mutex('twice').acquire({ wait: 20_000 });
    await client.connect();
    await lease.release();
    await (await waiting).release();
    await Promise.all([client.close(), holder.close()]);
    await noMoreHandlesThan(before);
  });

  it('can be closed before it is connected, twice, and while it connects', async () => {
    const before = openHandles();
    const client = await createRedisLockClient('users', { connect: server.url });
    await client.close();
    await client.close();
    await expect(client.connect()).rejects.toMatchObject({ code: 'LOCK_CLIENT_CLOSED' });

    const another = await createRedisLockClient('users', { connect: server.url });
    const connecting = expect(another.connect()).rejects.toMatchObject({
      code: 'LOCK_CLIENT_CLOSED',
    });
    await Promise.all([another.close(), connecting]);
    await noMoreHandlesThan(before);
  });

  it('closes in time when the server does not answer, with what it can release', async () => {
    const client = await connected({ connect: server.url });
    const lease = await client.mutex('frozen').acquire();
    server.freeze();
    try {
      await client.close(200);
      expect(lease.isHeld).toBe(false);
    } finally {
      server.thaw();
    }
    expect(lease.signal.reason).not.toBeInstanceOf(LockTimeoutError);
  });
});
