/**
 * What the documents take for granted in short examples, those without an import: `locks` is the client on Redis or, on
 * the pages of ZooKeeper, `zookeeper`; the others are of the reader.
 */
export const PRELUDE = `
import type {
  LockClient, LockModule as Module, RedisLock, RedisLockClient, RedisReadWriteLock, RedLockClient, ZooKeeperLockClient,
} from 'nestjs-interlock';
import type { Redis as Client } from 'ioredis';
declare global {
  const LockModule: typeof Module;
  const Redis: typeof Client;
  type Redis = Client;
  const locks: RedisLockClient;
  const redLock: RedLockClient;
  const zookeeper: ZooKeeperLockClient;
  const local: LockClient;
  const mutex: RedisLock;
  const catalogue: RedisReadWriteLock;
  const password: string;
  const sentinels: { host: string; port: number }[];
  interface Product { readonly id: string }
  interface Place { readonly latitude: number; readonly longitude: number }
  function job(): Promise<void>;
  function load(): Promise<void>;
  function rebuild(): Promise<void>;
  function publish(signal: AbortSignal): Promise<void>;
  function save(token: bigint): Promise<void>;
}`;
