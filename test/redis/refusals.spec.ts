import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { LockConnectionError, LockTimeoutError } from '../../lib/core/errors/index.js';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { eventually } from '../support/eventually.js';
import { RedisServer } from '../support/redis-server.js';
import { sinceRedis } from '../support/redis-version.js';
import { RECIPES } from './recipes.js';

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

let server: RedisServer;
let client: RedisLockClient;
let states: string[];

async function connected(connectTimeout = 15_000): Promise<RedisLockClient> {
  states = [];
  client = await createRedisLockClient('refused', { connect: server.url, connectTimeout });
  client.on('connection', ({ state, reason }) => void states.push(`${state} ${reason}`));
  await client.connect();
  return client;
}

/** A fair lock first removes its holder from the queue, and a script that has written is not stopped for lack of memory. */
const needsNoMemory = (code: string, name: string) => code === 'OOM' && name === 'fair mutex';

/** What the promise rejects with. */
async function errorOf(promise: Promise<unknown>): Promise<Error> {
  const [outcome] = await Promise.allSettled([promise]);
  if (outcome.status === 'fulfilled') throw new Error('It was granted.');
  return outcome.reason as Error;
}

beforeAll(async () => {
  server = await RedisServer.start();
});
afterEach(() => client.close());
afterAll(() => server.stop());

describe.each(Object.entries(REFUSALS))('While a server %s,', (_, { code, begin, end }) => {
  afterEach(() => end(server));

  it.each(Object.entries(RECIPES).filter(([name]) => !needsNoMemory(code, name)))(
    'an acquire of a %s that has waited in vain rejects with the reason for the missing answer',
    async (name, lock) => {
      await connected(WAIT);
      await begin(server);
      const [one, another] = [`${code} ${name}`, `${code} ${name}, too`];
      const waits = {
        [one]: lock(client, one).acquire({ wait: WAIT }),
        [another]: lock(client, another).tryAcquire(),
      };
      for (const wait of Object.values(waits)) wait.catch(() => {}); // awaited one after the other
      for (const [key, wait] of Object.entries(waits)) {
        const error = await errorOf(wait);
        expect(error).toBeInstanceOf(LockConnectionError);
        expect(error).toMatchObject({ key, client: 'refused' });
        expect(String(error.cause)).toContain(code);
        expect(error.message).toContain(code);
      }
    },
  );

  it('the refusal is reported once, the health is degraded, and both are over when it ends', async () => {
    await connected();
    const told = () => states.filter((state) => state.startsWith('REFUSED'));
    await begin(server);
    const waiting = client.mutex(`${code} told`).acquire();
    await eventually('the refusal is reported', () => told().length > 0);
    expect(told()[0]).toContain(code);
    expect(client.status()).toMatchObject({ health: 'degraded', state: 'REFUSED', waiting: 1 });
    const before = states.length;
    const since = performance.now();
    await eventually('it was asked several times more', () => performance.now() - since > 3_500);
    expect(states.slice(before)).toEqual([]);
    expect(client.status()).toMatchObject({ health: 'degraded' });

    await end(server);
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
      const other = await createRedisLockClient('holder', { connect: server.url });
      await other.connect();
      await other.mutex(key).acquire({ lease: 200 });
      const contended = new Promise<void>(
        (resolve) => void client.on('contended', () => resolve()),
      );
      const waiting = errorOf(client.mutex(key).acquire({ wait: 2_500 }));
      await contended;
      await begin(server);
      const error = await waiting;
      expect(error).toBeInstanceOf(LockTimeoutError);
      expect(String(error.cause)).toContain(code);
      await end(server);
      await other.close();
    },
  );

  it('held locks are kept and can be released once it is over', async () => {
    await connected();
    const lease = await client.mutex(`${code} held`).acquire();
    await begin(server);
    await errorOf(client.mutex(`${code} other`).acquire({ wait: 300 }));
    await end(server);
    expect(lease.isHeld).toBe(true);
    await lease.release();
    await eventually('it is free', async () => (await server.command('EXISTS', lease.key)) === 0);
  });
});

describe('A client without requests while a server refuses', () => {
  it('recovers after a while: traffic may be kept away until then', async () => {
    await connected();
    const { begin, end } = REFUSALS['has no memory left']!;
    await begin(server);
    try {
      await errorOf(client.mutex('unasked').acquire({ wait: WAIT }));
      expect(client.status().health).toBe('degraded');
      await eventually('it is well', () => client.status().health === 'up');
    } finally {
      await end(server);
    }
  });
});
