import type { Redis } from 'ioredis';
import { createRequire } from 'node:module';
import type { LockMaker } from './lock-maker.js';

const FOLDER = new URL('./peers/', import.meta.url);
/** As long as ours, in ms. */
const LEASE = 30_000;
/** Nobody gives up: what is measured is how long it takes. */
const FOREVER = 10_000_000;

/** The other libraries, each with the settings that it has when nobody sets any, but for giving up. */
export function peerLocks(clientOf: () => Redis): Record<string, LockMaker> {
  const require = createRequire(FOLDER);
  const makers: Record<string, (client: Redis) => LockMaker> = {
    'redlock 4': (client) => redlock4(require('redlock-4'), client),
    'redlock 5': (client) => redlock5(require('redlock').default, client),
    sesamecare: (client) => redlock5(require('@sesamecare-oss/redlock').Redlock, client),
    'redis-semaphore': (client) => redisSemaphore(require('redis-semaphore').Mutex, client),
    'redlock-universal': (client) => redlockUniversal(require('redlock-universal'), client),
  };
  return Object.fromEntries(
    Object.entries(makers).flatMap(([name, make]) => {
      try {
        return [[name, make(clientOf())] as const];
      } catch (error) {
        console.error(`${name} is left out: ${String(error)}`);
        return [];
      }
    }),
  );
}

interface Redlock4 {
  lock(key: string, ttl: number): Promise<{ unlock(): Promise<unknown> }>;
}

function redlock4(Redlock: new (clients: Redis[], options: object) => Redlock4, client: Redis) {
  const redlock = new Redlock([client], { retryCount: -1 });
  return (key: string) => async () => {
    const lock = await redlock.lock(key, LEASE);
    return () => lock.unlock();
  };
}

interface Redlock5 {
  acquire(keys: string[], ttl: number): Promise<{ release(): Promise<unknown> }>;
  on(event: 'error', listener: () => void): void;
}

function redlock5(Redlock: new (clients: Redis[], options: object) => Redlock5, client: Redis) {
  const redlock = new Redlock([client], { retryCount: -1 });
  redlock.on('error', () => {}); // one for each attempt that finds the lock taken
  return (key: string) => async () => {
    const lock = await redlock.acquire([key], LEASE);
    return () => lock.release();
  };
}

interface SemaphoreMutex {
  acquire(): Promise<void>;
  release(): Promise<void>;
}

function redisSemaphore(
  Mutex: new (client: Redis, key: string, options: object) => SemaphoreMutex,
  client: Redis,
) {
  return (key: string) => {
    const mutex = new Mutex(client, key, { lockTimeout: LEASE, acquireTimeout: FOREVER });
    return async () => {
      await mutex.acquire();
      return () => mutex.release();
    };
  };
}

interface RedlockUniversal {
  IoredisAdapter: new (client: Redis) => object;
  createLock(config: object): {
    acquire(): Promise<object>;
    release(handle: object): Promise<unknown>;
  };
}

function redlockUniversal({ IoredisAdapter, createLock }: RedlockUniversal, client: Redis) {
  const adapter = new IoredisAdapter(client);
  return (key: string) => {
    const lock = createLock({ adapter, key, ttl: LEASE, retryAttempts: FOREVER });
    return async () => {
      const handle = await lock.acquire();
      return () => lock.release(handle);
    };
  };
}
