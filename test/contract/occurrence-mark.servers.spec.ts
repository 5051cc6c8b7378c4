import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { createLockClient } from '../../lib/clients/lock-client.factory.js';
import { type LockClient, LockTimeoutError } from '../../lib/core/index.js';
import type { LockModuleOptions, ZooKeeperLockClient } from '../../lib/index.js';
import { useCleanup, useRedis, useShared, useZooKeeper } from '../support/fixtures.js';
import { RedisProxy } from '../support/redis-proxy.js';
import { IndependentRedisServers, type RedisServer } from '../support/redis-server.js';
import { FaultProxy, isOperation } from '../support/zookeeper-proxy.js';

const HOUR = 3_600_000;

/** Where marks are kept. */
interface Site {
  readonly options: LockModuleOptions;
  /** Leaves a mark as a server would whose clock was set back since. */
  plant(client: LockClient, key: string, occurrence: number): Promise<unknown>;
}

const redis = useRedis();
const several = useShared(async () => {
  const { all, nodes } = await IndependentRedisServers.start(3);
  return { all, nodes, stop: () => Promise.all(all.map((server) => server.stop())) };
});
const zookeeper = useZooKeeper();

const onRedis = (servers: readonly RedisServer[], options: LockModuleOptions): Site => ({
  options,
  plant: (_, key, occurrence) =>
    Promise.all(
      servers.map((it) =>
        it.command('HSET', `interlock_occurrence:{${key}}`, 'occurrence', occurrence),
      ),
    ),
});
const onNodes = (options: LockModuleOptions): Site => ({
  options: { ...options, literalPaths: true } as LockModuleOptions,
  plant: async (client, key, occurrence) => {
    const bytes = Buffer.from(JSON.stringify({ occurrence, request: 'theirs' }));
    const path = `/locks/${key}@occurrence`;
    await (client as ZooKeeperLockClient).sharedValue(path, bytes).start();
  },
});
const sites = {
  embedded: () => onNodes({}),
  ZooKeeper: () => onNodes({ backend: 'zookeeper', connect: zookeeper().connectString }),
  Redis: () => onRedis([redis()], { backend: 'redis', connect: redis().url }),
  'several Redis': () => onRedis(several().all, { backend: 'redis', nodes: several().nodes }),
};

const cleanup = useCleanup();

async function open(options: LockModuleOptions): Promise<LockClient> {
  const client = await createLockClient('default', options);
  cleanup(client, (it) => it.close());
  await client.connect();
  return client;
}

describe.each(Object.entries(sites))(
  'The mark of the occurrences of a job (%s)',
  (name, siteOf) => {
    let key: string;
    let client: LockClient;
    let others: LockClient;
    const now = Date.now();
    const mark = (of = client) => of.occurrenceMark!(key);

    beforeEach(async () => {
      key = randomUUID();
      client = await open(siteOf().options);
      others = name === 'embedded' ? client : await open(siteOf().options);
    });

    it('is raised to each occurrence by one only, and never lowered', async () => {
      expect(await mark().isReached(now)).toBe(false);
      expect(await mark().raise(now)).toBe(true);
      expect(await mark(others).raise(now)).toBe(false);
      expect(await mark(others).raise(now - 1)).toBe(false);
      expect(await mark().isReached(now)).toBe(true);
      expect(await mark().isReached(now + 1)).toBe(false);
      expect(await mark(others).raise(now + 1)).toBe(true);
      expect(await mark().raise(now)).toBe(false);
    });

    it('is raised by one of many at the same time', async () => {
      for (const occurrence of [now, now + 1_000]) {
        const raising = Array.from({ length: 10 }, (_, i) =>
          mark(i % 2 ? client : others)
            .raise(occurrence, { wait: 20_000 })
            .catch(() => false),
        );
        const raised = (await Promise.all(raising)).filter(Boolean).length;
        if (name === 'several Redis')
          expect(raised).toBeLessThanOrEqual(1); // none may get a majority
        else expect(raised).toBe(1);
      }
    });

    it('is not raised far ahead of the clock of the servers', async () => {
      await expect(mark().raise(now + 2 * HOUR)).rejects.toMatchObject({ option: 'occurrence' });
      expect(await mark().raise(now)).toBe(true);
    });

    it('counts as none where it is far ahead of the clock of the servers', async () => {
      await siteOf().plant(client, key, now + 2 * HOUR);
      expect(await mark().isReached(now)).toBe(false);
      expect(await mark().raise(now)).toBe(true);
      expect(await mark(others).raise(now)).toBe(false);
    });
  },
);

describe('A client of several Redis servers', () => {
  it('holds an occurrence for begun that a majority knows, and no other', async () => {
    const { options } = sites['several Redis']();
    const client = await open(options);
    const now = Date.now();
    for (const servers of [1, 2]) {
      const key = randomUUID();
      await onRedis(several().all.slice(0, servers), options).plant(client, key, now);
      const mark = client.occurrenceMark!(key);
      expect(await mark.isReached(now)).toBe(servers === 2);
      expect(await mark.raise(now)).toBe(servers === 1);
    }
  });

  it('raises a mark where a minority is silent, and does not know what becomes of it where a majority is', async () => {
    const { all } = several();
    const [first, second] = all as [RedisServer, RedisServer];
    const mark = (await open(sites['several Redis']().options)).occurrenceMark!(randomUUID());
    const now = Date.now();
    cleanup(all, () => all.forEach((server) => server.thaw()));
    first.freeze();
    expect(await mark.raise(now, { wait: 10_000 })).toBe(true);
    second.freeze();
    await expect(mark.raise(now + 1, { wait: 1_000 })).rejects.toBeInstanceOf(LockTimeoutError);
    second.thaw();
    expect(await mark.raise(now + 2, { wait: 10_000 })).toBe(true);
  });
});

describe('A client that raises a mark', () => {
  const now = Date.now();
  const redisProxy = useShared(() => RedisProxy.start(redis()));
  const zookeeperProxy = useShared(() => FaultProxy.start(zookeeper()));
  const behindRedisProxy = () =>
    open({ backend: 'redis', connect: `redis://127.0.0.1:${redisProxy().port}` });
  const isScript = ([command]: readonly string[]) => /^evalsha$/i.test(command!);
  const raise = (client: LockClient, key: string, occurrence: number) =>
    client.occurrenceMark!(key).raise(occurrence);

  it('knows that it did, although the answer of Redis was lost', async () => {
    const client = await behindRedisProxy();
    await raise(client, randomUUID(), now); // the server knows the script
    const key = randomUUID();
    const lost = redisProxy().loseReply((command) => isScript(command) && lost.lost === 0);
    expect(await raise(client, key, now)).toBe(true);
    lost.stop();
    expect(lost.lost).toBe(1);
    expect(await raise(client, key, now)).toBe(false);
  });

  it('does not lower it by a copy that arrives after others have raised it further', async () => {
    const client = await behindRedisProxy();
    const others = await open(sites.Redis().options);
    await raise(others, randomUUID(), now);
    const key = randomUUID();
    const copy = redisProxy().replay(isScript);
    expect(await raise(client, key, now)).toBe(true);
    expect(await raise(others, key, now + 1_000)).toBe(true);
    copy.giveUp();
    await copy.deliver();
    expect(await others.occurrenceMark!(key).isReached(now + 1_000)).toBe(true);
    expect(await raise(others, key, now + 1_000)).toBe(false);
  });

  it.each([
    ['the creation of the node', 'create'],
    ['the change of the node', 'setData'],
  ] as const)(
    'knows that it did, although the answer of ZooKeeper to %s was lost',
    async (_, operation) => {
      const options: LockModuleOptions = {
        backend: 'zookeeper',
        connect: `127.0.0.1:${zookeeperProxy().port}`,
      };
      const client = await open(options);
      const key = randomUUID();
      const cut = zookeeperProxy().cutAfter(
        ({ opcode, path }) => isOperation(opcode, operation) && path.endsWith('@occurrence'),
      );
      expect(await raise(client, key, now)).toBe(true);
      await cut;
      expect(await raise(client, key, now)).toBe(false);
      expect(await raise(client, key, now + 1)).toBe(true);
    },
  );
});
