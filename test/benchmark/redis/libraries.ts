import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import type { Redis } from 'ioredis';
import type { Lock } from '../../../lib/core/lock.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import type { LockMaker } from './contestants.js';

/** Of the semaphore. */
export const PERMITS = 3;

/** The keys of the multi-lock `key`: with a hash tag where they are to be in one slot. */
export function partsOf(key: string): string[] {
  return Array.from({ length: 5 }, (_, part) => `${key} ${part}`);
}

/** What a library has of what is measured. Permits, and keys of a multi-lock, are as in `cycles.ts`. */
export interface Library {
  readonly lock: LockMaker;
  readonly semaphore?: LockMaker;
  readonly multiLock?: LockMaker;
}

/** Ours, as users have it. */
export function ourLibrary(client: RedisLockClient): Library {
  return {
    lock: (key) => acquireOf(client.mutex(key)),
    semaphore: (key) => acquireOf(client.semaphore(key, { permits: PERMITS })),
    multiLock: (key) => acquireOf(client.multiLock(partsOf(key).map((part) => client.mutex(part)))),
  };
}

const acquireOf = (lock: Lock) => async () => {
  const lease = await lock.acquire();
  return () => lease.release();
};

const FOLDER = resolve('test/benchmark/redis/peers');

/** Puts the other libraries where `peerLibraries` finds them; says why when it cannot. */
export function installPeers(): boolean {
  const { status, stderr } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit'], {
    cwd: FOLDER,
    encoding: 'utf8',
  });
  if (status !== 0) console.error(`The other libraries are left out: npm ci fails\n${stderr}`);
  return status === 0;
}

/** As long as ours, in ms. */
const LEASE = 30_000;
/** Nobody gives up: what is measured is how long it takes. */
const FOREVER = 10_000_000;

/**
 * The other libraries, each with the settings that it has when nobody sets any, but for giving up.
 *
 * @param clientsOf makes the connections of one library: one, or one for each server of a RedLock
 */
export function peerLibraries(clientsOf: () => Redis[]): Record<string, Library> {
  const require = createRequire(`${FOLDER}/`);
  const makers: Record<string, (clients: Redis[]) => Library> = {
    'redlock 4': (clients) => redlock4(require('redlock-4'), clients),
    'redlock 5': (clients) => redlock5(require('redlock').default, clients),
    sesamecare: (clients) => redlock5(require('@sesamecare-oss/redlock').Redlock, clients),
    'redis-semaphore': (clients) => redisSemaphore(require('redis-semaphore'), clients),
    'redlock-universal': (clients) => redlockUniversal(require('redlock-universal'), clients),
  };
  return Object.fromEntries(
    Object.entries(makers).flatMap(([name, make]) => {
      try {
        return [[name, make(clientsOf())] as const];
      } catch (error) {
        console.error(`${name} is left out: ${String(error)}`);
        return [];
      }
    }),
  );
}

interface Redlock4 {
  lock(keys: string | string[], ttl: number): Promise<{ unlock(): Promise<unknown> }>;
}

function redlock4(
  Redlock: new (clients: Redis[], options: object) => Redlock4,
  clients: Redis[],
): Library {
  const redlock = new Redlock(clients, { retryCount: -1 });
  const lock = (keys: string | string[]) => async () => {
    const held = await redlock.lock(keys, LEASE);
    return () => held.unlock();
  };
  return { lock, multiLock: (key) => lock(partsOf(key)) };
}

interface Redlock5 {
  acquire(keys: string[], ttl: number): Promise<{ release(): Promise<unknown> }>;
  on(event: 'error', listener: () => void): void;
}

function redlock5(
  Redlock: new (clients: Redis[], options: object) => Redlock5,
  clients: Redis[],
): Library {
  const redlock = new Redlock(clients, { retryCount: -1 });
  redlock.on('error', () => {}); // one for each attempt that finds the lock taken
  const lock = (keys: string[]) => async () => {
    const held = await redlock.acquire(keys, LEASE);
    return () => held.release();
  };
  return { lock: (key) => lock([key]), multiLock: (key) => lock(partsOf(key)) };
}

interface Acquirable {
  acquire(): Promise<void>;
  release(): Promise<void>;
}

interface RedisSemaphore {
  Mutex: new (client: Redis, key: string, options: object) => Acquirable;
  RedlockMutex: new (clients: Redis[], key: string, options: object) => Acquirable;
  Semaphore: new (client: Redis, key: string, limit: number, options: object) => Acquirable;
}

function redisSemaphore(
  { Mutex, RedlockMutex, Semaphore }: RedisSemaphore,
  clients: Redis[],
): Library {
  const options = { lockTimeout: LEASE, acquireTimeout: FOREVER };
  const [client] = clients as [Redis];
  const take = (lock: Acquirable) => async () => {
    await lock.acquire();
    return () => lock.release();
  };
  return {
    lock: (key) =>
      take(
        clients.length === 1
          ? new Mutex(client, key, options)
          : new RedlockMutex(clients, key, options),
      ),
    semaphore: (key) => take(new Semaphore(client, key, PERMITS, options)),
  };
}

interface UniversalLock {
  acquire(): Promise<object>;
  release(handle: object): Promise<unknown>;
}

interface RedlockUniversal {
  IoredisAdapter: new (client: Redis) => object;
  createLock(config: object): UniversalLock;
  createRedlock(config: object): UniversalLock;
  LockManager: new (config: object) => {
    acquireBatch(keys: string[]): Promise<object[]>;
    releaseBatch(handles: object[]): Promise<unknown>;
  };
}

function redlockUniversal(
  { IoredisAdapter, createLock, createRedlock, LockManager }: RedlockUniversal,
  clients: Redis[],
): Library {
  const adapters = clients.map((client) => new IoredisAdapter(client));
  const manager = new LockManager({
    nodes: adapters,
    defaultTTL: LEASE,
    defaultRetryAttempts: FOREVER,
  });
  return {
    lock: (key) => {
      const common = { key, ttl: LEASE, retryAttempts: FOREVER };
      const lock =
        clients.length === 1
          ? createLock({ ...common, adapter: adapters[0] })
          : createRedlock({ ...common, adapters });
      return async () => {
        const handle = await lock.acquire();
        return () => lock.release(handle);
      };
    },
    multiLock: (key) => async () => {
      const handles = await manager.acquireBatch(partsOf(key));
      return () => manager.releaseBatch(handles);
    },
  };
}
