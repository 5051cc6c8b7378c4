import { Redis } from 'ioredis';
import { systemClock } from '../../../lib/core/clock.js';
import { LockLostError, LockNotHeldError } from '../../../lib/core/errors/index.js';
import type { Lease } from '../../../lib/core/lease.js';
import { redisCommands } from '../../../lib/redis/redis-write.js';
import { parseConnectString, ServerList } from '../../../lib/zookeeper/connection/server-list.js';
import { SessionConnection } from '../../../lib/zookeeper/connection/session-connection.js';
import { CreateMode } from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { ReturnCode, ZooKeeperError } from '../../../lib/zookeeper/connection/zookeeper-error.js';
import { WireTransport } from '../../../lib/zookeeper/wire/wire-transport.js';
import { zooKeeperOperations } from '../../../lib/zookeeper/zookeeper-write.js';
import { eventually } from '../../support/time.js';

/** How a set is written back: without a look at the lock, by comparing its token, or guarded by it. */
export const KINDS = ['plain', 'fenced', 'guarded'] as const;

export type Kind = (typeof KINDS)[number];

/** What became of an update; of one that was refused nothing may be there. */
export type Outcome = 'done' | 'refused' | 'unknown';

/** Writes the set that was read, with one more element. */
type Add = (element: string, lease: Lease) => Promise<unknown>;

/** One set of each kind, each read and written as a whole: Jepsen's lock workloads for etcd. */
export interface SharedSets {
  /** Reads all of them under a lock with that token. */
  read(token: bigint): Promise<Record<Kind, Add>>;
  all(): Promise<Record<Kind, string[]>>;
  close(): Promise<unknown>;
}

class Refused extends Error {}

/** What became of an update. */
export async function outcomeOf(update: Promise<unknown>): Promise<Outcome> {
  try {
    await update;
    return 'done';
  } catch (error) {
    const isRefused = [LockLostError, LockNotHeldError, Refused].some((it) => error instanceof it);
    return isRefused ? 'refused' : 'unknown';
  }
}

const elementsOf = (text: string | null | undefined) => (text ? text.split(' ') : []);
const withOne = (text: string | null | undefined, element: string) =>
  [...elementsOf(text), element].join(' ');

const CLAIM = `local token = redis.call('hget', KEYS[1], 'token')
if token and tonumber(token) > tonumber(ARGV[1]) then return false end
redis.call('hset', KEYS[1], 'token', ARGV[1])
return redis.call('hget', KEYS[1], 'set') or ''`;

const WRITE = `if redis.call('hget', KEYS[1], 'token') ~= ARGV[1] then return 0 end
redis.call('hset', KEYS[1], 'set', ARGV[2])
return 1`;

export function setsOnRedis(port: number): SharedSets {
  const redis = new Redis(port);
  return {
    async read(token) {
      const [plain, fenced, guarded] = await Promise.all([
        redis.get('plain'),
        redis.eval(CLAIM, 1, 'fenced', String(token)) as Promise<string | null>,
        redis.get('guarded'),
      ]);
      return {
        plain: (element) => redis.set('plain', withOne(plain, element)),
        fenced: async (element) => {
          if (fenced === null) throw new Refused();
          const set = withOne(fenced, element);
          if ((await redis.eval(WRITE, 1, 'fenced', String(token), set)) !== 1) throw new Refused();
        },
        guarded: (element, lease) =>
          lease.guard(redisCommands([['set', 'guarded', withOne(guarded, element)]])),
      };
    },
    all: async () => ({
      plain: elementsOf(await redis.get('plain')),
      fenced: elementsOf(await redis.hget('fenced', 'set')),
      guarded: elementsOf(await redis.get('guarded')),
    }),
    close: () => redis.quit(),
  };
}

/** A set and the token by which it was claimed last. */
const fencedData = (token: bigint, set: string) => Buffer.from(`${token}|${set}`);

export async function setsOnZooKeeper(connect: string): Promise<SharedSets> {
  const connection = new SessionConnection({
    transport: new WireTransport({ clock: systemClock }),
    servers: new ServerList(parseConnectString(connect).servers, Math.random, systemClock),
    sessionTimeout: 30_000,
    tickTime: 500,
    clock: systemClock,
  });
  connection.start();
  await eventually('connected', () => connection.isConnected);
  for (const kind of KINDS)
    await connection
      .create(`/${kind}`, Buffer.from(kind === 'fenced' ? '0|' : ''), CreateMode.PERSISTENT)
      .catch(unless(ReturnCode.NODEEXISTS));
  const textOf = async (kind: Kind) => String((await connection.getData(`/${kind}`)).data);

  /** Puts the token in, unless a greater one is there. */
  async function claim(token: bigint): Promise<{ set: string; version: number } | undefined> {
    for (;;) {
      const { data, stat } = await connection.getData('/fenced');
      const [before, set] = String(data).split('|') as [string, string];
      if (BigInt(before) > token) return undefined;
      const claimed = await connection
        .setData('/fenced', fencedData(token, set), stat.version)
        .catch(unless(ReturnCode.BADVERSION));
      if (claimed) return { set, version: claimed.version };
    }
  }

  return {
    async read(token) {
      await connection.sync('/');
      const [plain, fenced, guarded] = await Promise.all([
        textOf('plain'),
        claim(token),
        textOf('guarded'),
      ]);
      return {
        plain: (element) => connection.setData('/plain', Buffer.from(withOne(plain, element))),
        fenced: async (element) => {
          if (fenced === undefined) throw new Refused();
          const data = fencedData(token, withOne(fenced.set, element));
          const written = await connection
            .setData('/fenced', data, fenced.version)
            .catch(unless(ReturnCode.BADVERSION));
          if (!written) throw new Refused();
        },
        guarded: (element, lease) => {
          const data = withOne(guarded, element);
          return lease.guard(zooKeeperOperations([{ op: 'setData', path: '/guarded', data }]));
        },
      };
    },
    all: async () => ({
      plain: elementsOf(await textOf('plain')),
      fenced: elementsOf((await textOf('fenced')).split('|')[1]),
      guarded: elementsOf(await textOf('guarded')),
    }),
    close: () => connection.close(),
  };
}

/** Passes over that answer of the servers. */
function unless(rc: number) {
  return (error: unknown): undefined => {
    if (!ZooKeeperError.is(error, rc)) throw error;
  };
}
