import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { Redis as Redis5 } from 'ioredis5';
import { Redis as Valkey } from 'iovalkey';
import {
  LockConnectionError,
  LockLostError,
  LockTimeoutError,
} from '../../lib/core/errors/index.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import type { RedisLockOptions } from '../../lib/redis/redis-options.js';
import { noMoreHandlesThan, openHandles } from '../e2e/support/open-handles.js';
import { eventually } from '../support/time.js';
import { useRedis } from '../support/fixtures.js';
import { KEPT } from '../support/redis-server.js';
import { RedisProxy } from '../support/redis-proxy.js';
import { contended, listened, useClients, useProxy } from './support/clients.js';
import { RECIPES } from './support/redis-stage.js';

const server = useRedis();
const { made, connected } = useClients('users');

const PASSWORD = 'sesame';

/** A user's client, as the two majors create it, and the fork. */
const MAKE = {
  'ioredis 6': (options: object) => new Redis(options),
  'ioredis 5': (options: object) => new Redis5(options) as unknown as Redis,
  iovalkey: (options: object) => new Valkey(options) as unknown as Redis,
};

/** All keys of a lock, except its token counter. */
async function keysOf(key: string): Promise<string[]> {
  const keys = (await server().command('keys', `*${key}*`)) as string[];
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
    const user = server().client();
    await user.ping();
    const before = listenersOf(user);
    for (let i = 0; i < 3; i++) {
      const client = await connected({ client: user });
      const lease = await client.mutex('key').acquire();
      const waits = contended(client);
      const waiting = expect(client.mutex('key').acquire()).rejects.toBeDefined();
      await waits;
      await Promise.all([client.close(), waiting]);
      expect(lease.isHeld).toBe(false);
    }
    expect(listenersOf(user)).toEqual(before);
    expect([user.status, await user.ping()]).toEqual(['ready', 'PONG']);
    expect(await user.exists('key')).toBe(0);
  });

  it('may serve several lock clients at a time, which exclude each other', async () => {
    const user = server().client();
    const [mine, theirs] = [await connected({ client: user }), await connected({ client: user })];
    await using _ = await mine.mutex('shared').acquire();
    expect(await theirs.mutex('shared').tryAcquire()).toBeUndefined();
    await theirs.close();
    expect(await mine.mutex('shared').isLocked()).toBe(true);
  });

  it('that was closed before is rejected', async () => {
    const user = server().client();
    user.disconnect();
    await eventually('it is closed', () => user.status === 'end');
    const refusal = await connected({ client: user }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(LockConnectionError);
    expect(String(refusal)).toMatch(/was already closed\. Hand over one that is open/);
  });

  it('that is closed later leaves the locks alone', async () => {
    const user = server().client();
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
    const proxy = await RedisProxy.start(server());
    try {
      const user = server().client({ port: proxy.port, retryStrategy: () => null });
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
      const client = await connected({ client: server().client({ commandTimeout: 100 }) });
      await server().command('client', 'pause', PAUSE);
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
    const proxy = useProxy(server);

    const mortal = (options: RedisLockOptions = {}) => {
      const { host, port } = proxy();
      return connected({ connect: { host, port, retryStrategy: () => null }, ...options });
    };

    it('ends the wait of all waiters', async () => {
      const holder = await connected({ connect: server().url });
      const key = `${name}, ended`;
      await using _ = await blocker(holder, key).acquire();
      const wanted = lock(await mortal(), key);
      const waits = [wanted.acquire(), wanted.acquire(), wanted.acquire({ wait: 20_000 })];
      const ends = Promise.all(waits.map((wait) => wait.catch((error: unknown) => error)));
      await listened(server(), key);
      proxy().cut();

      for (const end of await ends) expect(end).toBeInstanceOf(LockConnectionError);
      await expect(wanted.tryAcquire()).rejects.toBeInstanceOf(LockConnectionError);
    });

    it('loses what was held, and release resolves', async () => {
      const lease = await lock(await mortal({ watchdogTimeout: 300 }), 'held').acquire();
      const lost = new Promise((resolve) => lease.signal.addEventListener('abort', resolve));
      proxy().cut();
      await lost;
      expect(lease.signal.reason).toBeInstanceOf(LockLostError);
      await lease.release();
    });
  },
);

describe('A client of our own', () => {
  it('is closed with the lock client, with everything that it has opened', async () => {
    const before = openHandles();
    const client = await connected({ connect: server().url });
    const lease = await client.mutex('ours').acquire();
    const waiting = client.mutex('ours').acquire({ wait: 60_000 });
    const fair = client.mutex('ours, fair', { fair: true });
    const other = await fair.acquire({ lease: 60_000 });
    const queued = fair.acquire({ wait: 60_000 });
    const refused = Promise.all(
      [waiting, queued].map((wait) => expect(wait).rejects.toMatchObject({ client: 'users' })),
    );
    await listened(server());
    await client.close();
    await refused;
    expect([lease.isHeld, other.isHeld]).toEqual([false, false]);
    expect(await server().command('keys', '*ours*')).toEqual([]);
    await noMoreHandlesThan(before);
  });

  it.each(Object.entries(RECIPES))(
    'keeps an acquire of a %s waiting until it is connected',
    async (name, lock) => {
      const holder = await connected({ connect: server().url });
      const blocker = name === 'read lock' ? RECIPES['write lock']! : lock;
      const held = await blocker(holder, `early ${name}`).acquire();

      const client = await made({ connect: server().url });
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
    const holder = await connected({ connect: server().url });
    const client = await connected({ connect: server().url });
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
    const client = await made({ connect: server().url });
    await client.close();
    await client.close();
    await expect(client.connect()).rejects.toMatchObject({ code: 'LOCK_CLIENT_CLOSED' });

    const another = await made({ connect: server().url });
    const connecting = expect(another.connect()).rejects.toMatchObject({
      code: 'LOCK_CLIENT_CLOSED',
    });
    await Promise.all([another.close(), connecting]);
    await noMoreHandlesThan(before);
  });

  it('closes in time when the server does not answer, with what it can release', async () => {
    const client = await connected({ connect: server().url });
    const lease = await client.mutex('frozen').acquire();
    server().freeze();
    try {
      await client.close(200);
      expect(lease.isHeld).toBe(false);
    } finally {
      server().thaw();
    }
    expect(lease.signal.reason).not.toBeInstanceOf(LockTimeoutError);
  });
});

describe.each(Object.entries(MAKE))('A client of %s that its user keeps using', (_, make) => {
  let user: Redis;

  beforeEach(async () => {
    await server().command('FLUSHALL');
    user = userOf();
  });
  afterEach(() => user.disconnect());

  function userOf(options: object = {}): Redis {
    const { host, port } = server();
    return make({ host, port, disconnectTimeout: 0, ...options });
  }

  const shared = (options: Partial<RedisLockOptions> = {}) =>
    connected({ client: user, ...options });

  it('for a blocking command keeps no lock waiting, and loses none', async () => {
    const client = await shared({ watchdogTimeout: 1_000 });
    const leases = await Promise.all(
      Object.entries(RECIPES).map(([name, lock]) => lock(client, `held ${name}`).acquire()),
    );
    const popped = user.blpop('queue', 0);
    await eventually('it blocks', async () => {
      return String(await server().command('INFO', 'clients')).includes('blocked_clients:1');
    });
    const lossOf = leases.map(({ signal }) => signal);
    const since = performance.now();
    for (const [name, lock] of Object.entries(RECIPES))
      await (await lock(client, `free ${name}`).acquire({ wait: 20_000 })).release();
    await eventually('leases would be over', () => performance.now() - since > 2_000);
    expect(lossOf.map(({ aborted }) => aborted)).toEqual(leases.map(() => false));
    await Promise.all(leases.map((lease) => lease.release()));

    await server().command('RPUSH', 'queue', 'done');
    expect(await popped).toEqual(['queue', 'done']);
  });

  it('for a transaction does not pull our commands into it', async () => {
    const client = await shared();
    await user.multi({ pipeline: false });
    for (const [name, lock] of Object.entries(RECIPES)) {
      const lease = await lock(client, name).acquire({ wait: 20_000 });
      await lease.release();
    }
    await user.set('a', 1);
    await user.discard();
    const keys = (await server().command('KEYS', '*')) as string[];
    expect(keys.filter((key) => !KEPT.test(key))).toEqual([]);
  });

  it('for subscriptions sends no commands any more, and locks keep working', async () => {
    user.disconnect();
    user = userOf({ protocol: 2 });
    const client = await shared();
    await user.subscribe('news');
    for (const [name, lock] of Object.entries(RECIPES))
      await (await lock(client, name).acquire({ wait: 20_000 })).release();
  });

  it('is never connected by us where it connects at its first command', async () => {
    user.disconnect();
    user = userOf({ lazyConnect: true });
    const client = await shared();
    await (await client.mutex('lazy').acquire()).release();
    await client.close();
    expect(user.status).toBe('wait');
  });

  it('has its locks in the database that it has selected', async () => {
    await user.select(3);
    const client = await shared();
    await using _ = await client.mutex('selected').acquire();
    expect(await user.exists('selected')).toBe(1);
    await user.select(0);
    expect(await user.exists('selected')).toBe(0);
    expect(await client.mutex('selected').isLocked()).toBe(true);
  });

  it('has its current password used by connections that are made later', async () => {
    await server().command('ACL', 'SETUSER', 'cloud', 'on', `>${PASSWORD}`, '~*', '&*', '+@all');
    user.disconnect();
    user = userOf({ username: 'cloud', password: PASSWORD });
    const [client, other] = [await shared(), await connected({ connect: server().url })];
    await using held = await other.mutex('taken').acquire();
    await server().command('ACL', 'SETUSER', 'cloud', 'resetpass', '>another');
    user.options.password = 'another';
    await server().command('ACL', 'LOG', 'RESET');
    const waiting = client.mutex('taken').acquire(); // the first to listen
    await eventually('it listens', async () =>
      String(await server().command('CLIENT', 'LIST', 'TYPE', 'pubsub')).includes('user=cloud'),
    );
    await server().command('ACL', 'SETUSER', 'cloud', 'resetpass', '>third');
    user.options.password = 'third';
    await server().command('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await eventually('it listens again', async () =>
      String(await server().command('CLIENT', 'LIST', 'TYPE', 'pubsub')).includes('user=cloud'),
    );
    await held.release();
    await (await waiting).release();
    expect(await server().command('ACL', 'LOG')).toEqual([]);
  });

  it('logs in with its current password when the connection breaks', async () => {
    await server().command('ACL', 'SETUSER', 'cloud', 'on', `>${PASSWORD}`, '~*', '&*', '+@all');
    user.disconnect();
    user = userOf({ username: 'cloud', password: PASSWORD });
    const client = await shared();
    await (await client.mutex('before').acquire()).release();
    await server().command('ACL', 'SETUSER', 'cloud', 'resetpass', '>another');
    user.options.password = 'another';
    await server().command('CLIENT', 'KILL', 'USER', 'cloud');
    await (await client.mutex('after').acquire({ wait: 20_000 })).release();
  });
});
