import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  LockConnectionError,
  type LockError,
  LockTimeoutError,
} from '../../lib/core/errors/index.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { redisCommands } from '../../lib/redis/redis-write.js';
import type { RedisLockOptions } from '../../lib/redis/redis-options.js';
import { noMoreHandlesThan, openHandles } from '../e2e/support/open-handles.js';
import { eventually } from '../support/time.js';
import { useRedis } from '../support/fixtures.js';
import { freePorts } from '../support/processes.js';
import { RedisServer, sinceRedis } from '../support/redis-server.js';
import { AT_ONCE, contended, useClients } from './support/clients.js';
import { RECIPES } from './support/redis-stage.js';

/** Maximum wait of an acquire that is refused, in ms: long enough for the refusal to be reported meanwhile. */
const WAIT = 1_500;

interface Refusing {
  readonly code: string;
  begin(server: RedisServer): Promise<unknown>;
  end(server: RedisServer): Promise<unknown>;
}

const REFUSALS: Record<string, Refusing> = {
  'has no memory left': {
    code: 'OOM',
    begin: (server) => server.command('CONFIG', 'SET', 'maxmemory', 1),
    end: (server) => server.command('CONFIG', 'SET', 'maxmemory', 0),
  },
  'has too few replicas to write': {
    code: 'NOREPLICAS',
    begin: (server) => server.command('CONFIG', 'SET', 'min-replicas-to-write', 1),
    end: (server) => server.command('CONFIG', 'SET', 'min-replicas-to-write', 0),
  },
  'was made a replica': {
    code: 'READONLY',
    begin: (server) => server.command('REPLICAOF', server.host, 1),
    end: (server) => server.command('REPLICAOF', 'NO', 'ONE'),
  },
};

const server = useRedis();
const refused = useClients('refused');
let client: RedisLockClient;
let states: string[];

async function connected(connectTimeout = 15_000): Promise<void> {
  states = [];
  client = await refused.made({ connect: server().url, connectTimeout });
  client.on('connection', ({ state, reason }) => void states.push(`${state} ${reason}`));
  await client.connect();
}

/** A fair lock first removes its holder from the queue, and a script that has written is not stopped for lack of memory. */
const needsNoMemory = (code: string, name: string) => code === 'OOM' && name === 'fair mutex';

/** What the promise rejects with. */
async function errorOf(promise: Promise<unknown>): Promise<Error> {
  const [outcome] = await Promise.allSettled([promise]);
  if (outcome.status === 'fulfilled') throw new Error('It was granted.');
  return outcome.reason as Error;
}

describe.each(Object.entries(REFUSALS))('While a server %s,', (_, { code, begin, end }) => {
  afterEach(() => end(server()));

  it('the fencing token of a lease that is held rejects with the reason', async () => {
    await connected();
    const lease = await client.mutex(`${code} token`).acquire();
    await begin(server());
    const error = await errorOf(lease.fencingToken());
    expect(error).toBeInstanceOf(LockConnectionError);
    expect(error.message).toContain(code);
    expect(lease.isHeld).toBe(true);
  });

  it('an acquire of any kind that has waited in vain rejects with the reason for the missing answer', async () => {
    await connected(WAIT);
    await begin(server());
    const locks = Object.entries(RECIPES).filter(([name]) => !needsNoMemory(code, name));
    const waits = locks.flatMap(([name, lock]) => {
      const [one, another] = [`${code} ${name}`, `${code} ${name}, too`] as const;
      return [
        { key: one, error: errorOf(lock(client, one).acquire({ wait: WAIT })) },
        { key: another, error: errorOf(lock(client, another).tryAcquire()) },
      ];
    });
    for (const { key, error: rejected } of waits) {
      const error = await rejected;
      expect(error).toBeInstanceOf(LockConnectionError);
      expect(error).toMatchObject({ key, client: 'refused' });
      expect(String(error.cause)).toContain(code);
      expect(error.message).toContain(code);
    }
  });

  it('the refusal is reported once, the health is degraded, and both are over when it ends', async () => {
    await connected();
    const told = () => states.filter((state) => state.startsWith('REFUSED'));
    await begin(server());
    const waiting = client.mutex(`${code} told`).acquire();
    await eventually('the refusal is reported', () => told().length > 0);
    expect(told()[0]).toContain(code);
    expect(client.status()).toMatchObject({ health: 'degraded', state: 'REFUSED', waiting: 1 });
    const before = states.length;
    const since = performance.now();
    await eventually('it was asked several times more', () => performance.now() - since > 2_000);
    expect(states.slice(before)).toEqual([]);
    expect(client.status()).toMatchObject({ health: 'degraded' });

    await end(server());
    await (await waiting).release();
    await eventually('it is over', () => client.status().health === 'up');
    expect(states.slice(before)).toEqual(['CONNECTED the server accepts commands again']);
  });

  // As a replica, Redis 6.2 shows expired locks to scripts, and so continues to answer.
  const answersOn = code === 'READONLY' && !sinceRedis('7.0');
  (answersOn ? it.skip : it)(
    'an acquire that was answered before the refusal times out, and reports why it was not granted',
    async () => {
      await connected();
      const key = `${code} answered`;
      const other = await refused.connected({ connect: server().url });
      await other.mutex(key).acquire({ lease: 200 });
      const waits = contended(client);
      const waiting = errorOf(client.mutex(key).acquire({ wait: 1_800 }));
      await waits;
      await begin(server());
      const error = await waiting;
      expect(error).toBeInstanceOf(LockTimeoutError);
      expect(String(error.cause)).toContain(code);
      await end(server());
    },
  );

  it('held locks are kept and can be released once it is over', async () => {
    await connected();
    const lease = await client.mutex(`${code} held`).acquire();
    await begin(server());
    await errorOf(client.mutex(`${code} other`).acquire({ wait: 300 }));
    await end(server());
    expect(lease.isHeld).toBe(true);
    await lease.release();
    await eventually('it is free', async () => (await server().command('EXISTS', lease.key)) === 0);
  });
});

describe('While a server has no memory left', () => {
  const { begin, end } = REFUSALS['has no memory left']!;
  afterEach(() => end(server()));

  it.each(['mutex', 'read lock', 'write lock'])(
    'a %s is renewed for as long as the extend that was refused',
    async (name) => {
      const client = await refused.connected({ connect: server().url, watchdogTimeout: 1_000 });
      const key = `refused ${name}`;
      const lease = await RECIPES[name]!(client, key).acquire();
      await begin(server());
      await expect(lease.extend(10_000)).rejects.toThrow('OOM');
      const left = async () => Number(await server().command('PTTL', key));
      await eventually('it is renewed', async () => (await left()) > 1_000);
      expect(lease.isHeld).toBe(true);
      await lease.release();
    },
  );

  it('a guarded write is given up after the `connectTimeout`, and it is known that nothing was written', async () => {
    const connect = server().url;
    const client = await refused.connected({
      connect,
      watchdogTimeout: 1_000,
      connectTimeout: 500,
    });
    await using lease = await client.mutex('guarded').acquire();
    await begin(server());
    const error = await errorOf(lease.guard(redisCommands([['incr', 'guarded data']])));
    expect(error).toBeInstanceOf(LockConnectionError);
    expect(error).toMatchObject({ key: 'guarded', client: 'refused' });
    expect(error.message).toMatch(/refused .* for 500 ms: OOM .*\. Nothing was written\./);
    expect(lease.isHeld).toBe(true);
    await end(server());
    expect(await server().command('EXISTS', 'guarded data')).toBe(0);
    expect(await lease.guard(redisCommands([['incr', 'guarded data']]))).toEqual([1]);
  });

  it('permits are renewed, and so are locks of the same process', async () => {
    const client = await refused.connected({ connect: server().url, watchdogTimeout: 1_000 });
    const permits = await client
      .semaphore('refused permits', { permits: 3 })
      .acquire({ permits: 2 });
    const lease = await client.mutex('beside permits').acquire();
    await begin(server());
    const since = performance.now();
    await eventually('two leases would be over', () => performance.now() - since > 2_000);
    expect([permits.isHeld, lease.isHeld]).toEqual([true, true]);
    await Promise.all([permits.release(), lease.release()]);
  });
});

describe('A client without requests while a server refuses', () => {
  it('recovers after a while: traffic may be kept away until then', async () => {
    await connected();
    const { begin, end } = REFUSALS['has no memory left']!;
    await begin(server());
    try {
      await errorOf(client.mutex('unasked').acquire({ wait: WAIT }));
      expect(client.status().health).toBe('degraded');
      await eventually('it is well', () => client.status().health === 'up');
    } finally {
      await end(server());
    }
  });
});

const HOST = '127.0.0.1';
const PASSWORD = 'sesame';

let emptyPort: number;
const { made } = useClients('far');

beforeAll(async () => {
  [emptyPort] = (await freePorts(1, HOST)) as [number];
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** Creates a user of the server with all permissions except those, in the language of ACL rules. */
async function userWho(name: string, ...rules: string[]): Promise<RedisLockOptions> {
  const everything = ['reset', 'on', `>${PASSWORD}`, '~*', '&*', '+@all'];
  await server().command('acl', 'setuser', name, ...everything, ...rules);
  return {
    connect: { host: HOST, port: server().port, username: name, password: PASSWORD, ...AT_ONCE },
    watchdogTimeout: 20_000,
  };
}

describe('A lock client that finds no Redis', () => {
  it.each<[string, (port: number) => RedisLockOptions, reason: RegExp]>([
    ['at its URL', (port) => ({ connect: `redis://${HOST}:${port}` }), /ECONNREFUSED/],
    ['at its address', (port) => ({ connect: { host: HOST, port } }), /ECONNREFUSED/],
    ['at any node', (port) => ({ cluster: { nodes: [{ host: HOST, port }] } }), /slots cache/],
  ])('%s reports the reason at every attempt, and in the end', async (_, options, reason) => {
    const before = openHandles();
    const client = await made({ ...options(emptyPort), connectTimeout: 1_500 });
    const reasons: string[] = [];
    client.on('connection', (event) => void reasons.push(event.reason));

    const error = await client.connect().catch((error: unknown) => error);
    expect(error).toBeInstanceOf(LockConnectionError);
    expect(error).toMatchObject({ client: 'far' });
    expect(String(error)).toMatch(/could not connect to Redis within 1500 ms \(.+\)\. Check/);
    expect(String(error)).toMatch(reason);
    expect(reasons.length).toBeGreaterThan(1);
    for (const told of reasons) expect(told).toMatch(reason);

    await client.close();
    await noMoreHandlesThan(before);
  });

  it('is closed when it has given up, for those that wait, those that come, and a second connect', async () => {
    const connect = { host: HOST, port: emptyPort, ...AT_ONCE };
    const client = await made({ connect, connectTimeout: 300 });
    const mark = client.occurrenceMark('job');
    const all = () => [
      ...Object.entries(RECIPES).map(([name, lock]) => lock(client, name).acquire()),
      client.mutex('another').tryAcquire({ wait: 60_000 }),
      client.countDownLatch('latch').await(),
      mark.raise(1, { wait: 60_000 }),
      mark.isReached(1, { wait: 60_000 }),
    ];
    const codesOf = async (calls: Promise<unknown>[]) => {
      const errors = await Promise.all(calls.map(errorOf));
      return new Set(errors.map((error) => (error as LockError).code));
    };
    const waiting = codesOf(all());
    await expect(client.connect()).rejects.toBeInstanceOf(LockConnectionError);
    expect(await waiting).toEqual(new Set(['LOCK_CLIENT_CLOSED']));
    expect(await codesOf([...all(), client.connect(), client.connect()])).toEqual(
      new Set(['LOCK_CLIENT_CLOSED']),
    );
    expect(client.status()).toMatchObject({ health: 'down', state: 'CLOSED', waiting: 0 });
  });

  it('behind a client of a user does not close that client', async () => {
    const user = server().client({ port: emptyPort });
    const client = await made({ client: user, connectTimeout: 200 });
    await expect(client.connect()).rejects.toBeInstanceOf(LockConnectionError);
    await client.close();
    await eventually('it tries on', () => user.status === 'reconnecting');
  });

  it('connects to one that starts in time', async () => {
    const late = new RedisServer(emptyPort);
    try {
      const client = await made({ connect: { host: HOST, port: emptyPort, ...AT_ONCE } });
      const connecting = client.connect();
      await late.restart();
      await connecting;
      await (await client.mutex('key').acquire()).release();
      await client.close();
    } finally {
      await late.stop();
    }
  });
});

describe('A lock client that finds a Redis that cannot save its data', () => {
  const refusals = async () =>
    Number(
      /cmdstat_ping:.*rejected_calls=(\d+)/.exec(
        String(await server().command('INFO', 'commandstats')),
      )?.[1] ?? 0,
    );
  const isBroken = async () =>
    String(await server().command('INFO', 'persistence')).includes('last_bgsave_status:err');

  beforeAll(async () => {
    const [, folder] = (await server().command('CONFIG', 'GET', 'dir')) as [string, string];
    mkdirSync(join(folder, 'dump.rdb')); // no file can have that name now
    await server().command('BGSAVE');
    await eventually('it has failed', isBroken);
  });
  beforeEach(async () => {
    await server().command('CONFIG', 'SET', 'save', '3600 100000'); // from here on it refuses even PING
  });
  afterEach(() => server().command('CONFIG', 'SET', 'save', ''));

  const DRIVERS: [string, () => RedisLockOptions][] = [
    ['ioredis', () => ({ connect: server().url })],
    ['node-redis', () => ({ connect: server().url, driver: 'node-redis' })],
  ];

  it.each(DRIVERS)('waits until it accepts commands, with %s', async (_, options) => {
    const client = await made(options());
    const before = await refusals();
    const connecting = client.connect();
    connecting.catch(() => {}); // awaited below
    await eventually('it was refused several times', async () => (await refusals()) > before + 2);
    expect(client.status()).toMatchObject({ health: 'down', state: 'CONNECTING' });
    await server().command('CONFIG', 'SET', 'save', '');
    await connecting;
    await (await client.mutex('saved').acquire()).release();
    expect(client.status().health).toBe('up');
  });

  it.each(DRIVERS)('rejects in the end with the reason, with %s', async (_, options) => {
    const client = await made({ ...options(), connectTimeout: 300 });
    const error = await client.connect().catch((error: unknown) => error);
    expect(error).toBeInstanceOf(LockConnectionError);
    expect(String(error)).toMatch(
      /could not connect to Redis within 300 ms \(MISCONF .+\)\. Check/,
    );
  });
});

describe('A lock client with a server user that', () => {
  it('has another password reports it', async () => {
    const { connect } = await userWho('forgetful');
    const forgetful = { ...(connect as object), password: 'guess' };
    const client = await made({ connect: forgetful, connectTimeout: 300 });
    const error = await client.connect().catch((error: unknown) => error);
    expect(error).toBeInstanceOf(LockConnectionError);
    expect(String(error)).toContain('WRONGPASS');
    expect(String(error)).not.toContain('guess');
  });

  it.each([
    ['scripts', ['-evalsha', '-eval'], "'evalsha'"],
    ['such keys', ['resetkeys', '~other:*'], 'one of the keys'],
    ['writing', ['-@write'], "can't run this command"],
  ])('may not use %s rejects at the first lock', async (what, rules, part) => {
    const client = await made(await userWho('guest', ...rules));
    jest.spyOn(process, 'emitWarning').mockReturnValue(); // the release of the lock is refused too
    await client.connect();
    const key = `no ${what}`;
    const error = await client
      .mutex(key)
      .acquire()
      .catch((error: unknown) => error);
    expect(error).toBeInstanceOf(LockConnectionError);
    expect(error).toMatchObject({ key, client: 'far' });
    expect(String(error)).toContain(part);
    expect(String(error)).toContain('Check the permissions of the user');
    await client.close();
  });

  it('may not write some data is refused a guarded write of it, and keeps its lock', async () => {
    const rules = ['resetkeys', '~door', '~*:{door}*', '~{door}:open'];
    const client = await made(await userWho('clerk', ...rules));
    await client.connect();
    await using lease = await client.mutex('door').acquire();
    const write = (name: string) => lease.guard(redisCommands([['incr', name]]));
    await expect(write('{door}:closed')).rejects.toThrow(/^NOPERM|can't access|no permissions/i);
    expect(lease.isHeld).toBe(true);
    expect(await write('{door}:open')).toEqual([1]);
  });

  it.each([
    ['by its commands', ['-subscribe']],
    ['by its channels', ['resetchannels']],
  ])('may not listen %s checks the lock by itself, twice a second', async (how, rules) => {
    const client = await made(await userWho('deaf', ...rules));
    const other = await made({ connect: server().url });
    await Promise.all([client.connect(), other.connect()]);
    const key = `deaf ${how}`;
    const lease = await other.mutex(key).acquire();
    const waits = contended(client);
    const waiting = client.mutex(key).acquire({ wait: 10_000, lease: 10_000 });
    await waits;
    await lease.release();
    const granted = await waiting; // without a check it would sleep for 30 s
    expect(granted.isHeld).toBe(true);
    expect(await other.mutex(key).tryAcquire()).toBeUndefined();
  });

  describe.each(['ioredis', 'node-redis'] as const)('by %s', (driver) => {
    const connectTo = (database: number, user = '') =>
      ({ driver, connect: `redis://${user}${HOST}:${server().port}/${database}` }) as const;

    it('may not select its database any more has no lock in another one', async () => {
      const name = `wanderer-${driver}`;
      await userWho(name);
      const client = await made(connectTo(3, `${name}:${PASSWORD}@`));
      await client.connect();
      const lease = await client.mutex(`held ${driver}`).acquire();
      const reasons: string[] = [];
      client.on('connection', ({ reason }) => void reasons.push(reason));
      await server().command('ACL', 'SETUSER', name, '-select');
      await server().command('CLIENT', 'KILL', 'USER', name);
      await eventually('it is refused', () => reasons.some((it) => /NOPERM .*select/.test(it)));
      const free = client.mutex(`free ${driver}`);
      await expect(free.tryAcquire({ wait: 50 })).rejects.toBeInstanceOf(LockTimeoutError);
      expect(lease.isHeld).toBe(true);
      await server().command('ACL', 'SETUSER', name, '+select');
      await (await free.acquire({ wait: 20_000 })).release();
      expect(await client.mutex(`held ${driver}`).isLocked()).toBe(true);
    });

    /** Replaces the password of the user; resolves when a login of the client was refused, to how often that has happened. */
    async function refusedLogins(client: RedisLockClient, user: string): Promise<() => number> {
      let refusals = 0;
      client.on(
        'connection',
        ({ reason }) => void (refusals += reason.includes('WRONGPASS') ? 1 : 0),
      );
      await server().command('ACL', 'SETUSER', user, 'resetpass', '>another');
      await server().command('CLIENT', 'KILL', 'USER', user);
      await eventually('it is refused', () => refusals > 0);
      return () => refusals;
    }

    it('has another password for a while goes on when it has its own again', async () => {
      const name = `changed-${driver}`;
      await userWho(name);
      const client = await made(connectTo(0, `${name}:${PASSWORD}@`));
      await client.connect();
      const held = client.mutex(`released ${driver}`);
      const lease = await held.acquire();
      const refusals = await refusedLogins(client, name);
      const acquired = client.mutex(`free ${driver}`).acquire({ wait: 20_000 });
      await lease.release();
      const before = refusals();
      await eventually('it is refused with what it has to send', () => refusals() > before + 1);
      await server().command('ACL', 'SETUSER', name, 'resetpass', `>${PASSWORD}`);
      await (await acquired).release();
      await eventually('it is released', async () => !(await held.isLocked()));
    });

    it('is refused the login hears so when it asks for something', async () => {
      const name = `asking-${driver}`;
      await userWho(name);
      const client = await made({ ...connectTo(0, `${name}:${PASSWORD}@`), connectTimeout: 1_000 });
      await client.connect();
      const key = `asked ${driver}`;
      const lease = await client.mutex(key).acquire({ lease: 600_000 });
      await refusedLogins(client, name);
      const asked = [
        client.mutex(key).holders(),
        client.countDownLatch(`latch of ${key}`).getCount(),
        client.countDownLatch(`latch of ${key}`).trySetCount(1),
        client.semaphore(`permits of ${key}`).getPermits(),
        lease.fencingToken(),
        lease.extend(500_000),
      ];
      for (const error of await Promise.all(asked.map(errorOf))) {
        expect(error).toBeInstanceOf(LockConnectionError);
        expect(error).toMatchObject({ key: expect.stringContaining(key), client: 'far' });
        expect(String(error.cause)).toContain('WRONGPASS');
      }
      expect(lease.isHeld).toBe(true);
      await server().command('ACL', 'SETUSER', name, `>${PASSWORD}`);
      await lease.release();
    });

    it('names a database that there is not cannot connect, and hears why', async () => {
      const client = await made({ ...connectTo(99), connectTimeout: 300 });
      const connecting = client.connect();
      await expect(connecting).rejects.toThrow(/within 300 ms \(.*DB index is out of range\)/);
    });
  });

  it('may not select its database is not reported as connected, where ioredis does not look at the server', async () => {
    const unready = {
      host: HOST,
      port: server().port,
      db: 99,
      enableReadyCheck: false,
      ...AT_ONCE,
    };
    const client = await made({ driver: 'ioredis', connect: unready, connectTimeout: 300 });
    const states = new Set<string>();
    client.on('connection', ({ state }) => void states.add(state));
    await expect(client.connect()).rejects.toThrow(/within 300 ms \(.*DB index is out of range\)/);
    expect([...states]).toEqual(['SUSPENDED']);
  });

  it('may not publish is warned of it once, and leaves nothing locked forever', async () => {
    const client = await made(await userWho('mute', 'resetchannels'));
    await client.connect();
    const warn = jest.spyOn(process, 'emitWarning').mockReturnValue();
    for (let i = 0; i < 3; i++) await (await client.mutex('mute').acquire()).release();
    expect(warn).toHaveBeenCalledTimes(1);
    expect(String(warn.mock.calls[0]![0])).toMatch(/"far" to release a lock.*channels/);
    expect(await client.mutex('mute').isLocked()).toBe(false);
  });
});
