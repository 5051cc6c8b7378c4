import {
  ReadLock,
  Semaphore,
  WithMultiLock,
  WithMutex,
  WriteLock,
  type Lock,
  type LockClient,
  type LockKey,
  type LockMethodOptions,
  type ZooKeeperLockClient,
} from '../../../lib/index.js';

/** A decorator that locks one key, as far as it is like all the others. */
export interface LockKind {
  readonly decorator: string;
  readonly lock: typeof WithMutex;
  /** A lock that cannot be had while a method holds that of the decorator, and the other way round. */
  rival(client: LockClient, key: string): Lock;
  /** Paths of the holders and waiters, the holder first. */
  participants(client: ZooKeeperLockClient, key: string): Promise<string[]>;
}

type Options = LockMethodOptions<never[], never>;

/** Every decorator of async methods. */
export const LOCK_KINDS: LockKind[] = [
  {
    decorator: 'WithMutex',
    lock: WithMutex,
    rival: (client, key) => client.mutex(key),
    participants: (client, key) => client.mutex(key).participants(),
  },
  {
    decorator: 'ReadLock',
    lock: ReadLock,
    rival: (client, key) => client.readWriteLock(key).writeLock(),
    participants: (client, key) => client.readWriteLock(key).readLock().participants(),
  },
  {
    decorator: 'WriteLock',
    lock: WriteLock,
    rival: (client, key) => client.readWriteLock(key).readLock(),
    participants: (client, key) => client.readWriteLock(key).writeLock().participants(),
  },
  {
    decorator: 'Semaphore',
    lock: ((key: LockKey<never[]>, options?: Options) =>
      Semaphore(key, { permits: 1, ...options })) as typeof WithMutex,
    rival: (client, key) => client.semaphore(key, { permits: 1 }),
    participants: (client, key) => client.semaphore(key, { permits: 1 }).participants(),
  },
  {
    decorator: 'WithMultiLock',
    lock: ((key: LockKey<never[]>, options?: Options) =>
      WithMultiLock(['another', key], options)) as typeof WithMutex,
    rival: (client, key) => client.mutex(key),
    participants: (client, key) => client.mutex(key).participants(),
  },
];

/** Every decorator, with LockModule as the first and as the last import. */
export const PLACED_KINDS = LOCK_KINDS.flatMap((kind) =>
  (['first', 'last'] as const).map((position) => ({ ...kind, position })),
);
