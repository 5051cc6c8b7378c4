import { describe, expect, it } from '@jest/globals';
import type { LockClient } from '../../../lib/core/index.js';
import { createEmbeddedLockClient } from '../../../lib/embedded/create-embedded-lock-client.js';
import {
  lockClientContract,
  multiLockContract,
  mutexContract,
  readWriteLockContract,
  semaphoreContract,
  type ContractOptions,
  type ContractRunner,
} from '../../../lib/testing/index.js';
import { overrideMembers } from '../../../lib/testing/testing-client.js';
import { runContract } from './support/run-contract.js';

/** What is wrong with a client, in the members that take the place of its own. */
type Flaw = (client: LockClient) => Partial<LockClient>;

interface BrokenClient {
  readonly what: string;
  readonly contract: (runner: ContractRunner, options: ContractOptions) => void;
  readonly flaw: Flaw;
  /** The cases that have to find it, among others. */
  readonly caught: readonly string[];
}

let strangers = 0;

const BROKEN: readonly BrokenClient[] = [
  {
    what: 'with mutexes that exclude no other caller',
    contract: mutexContract,
    flaw: (client) => ({ mutex: (key) => client.mutex(`${key}-${++strangers}`) }),
    caught: [
      'A mutex excludes all but one at a time',
      'A mutex excludes a second caller of the same client, until the first releases it',
    ],
  },
  {
    what: 'with mutexes that are not reentrant',
    contract: mutexContract,
    flaw: (client) => ({ mutex: (key) => client.semaphoreMutex(key) }),
    caught: ['A mutex is re-entered inside `using`, to any depth'],
  },
  {
    what: 'with semaphore mutexes that are reentrant',
    contract: mutexContract,
    flaw: (client) => ({ semaphoreMutex: (key) => client.mutex(key) }),
    caught: ['A mutex is re-entered not if it is a semaphoreMutex'],
  },
  {
    what: 'that has one lock for all keys',
    contract: mutexContract,
    flaw: (client) => ({ mutex: () => client.mutex('all') }),
    caught: ['A mutex excludes no caller of another key'],
  },
  {
    what: 'that knows no deadlines',
    contract: mutexContract,
    flaw: (client) => ({
      mutex: (key) => {
        const mutex = client.mutex(key);
        return overrideMembers(mutex, {
          acquire: (options) => mutex.acquire({ ...options, wait: 'forever' }),
        });
      },
    }),
    caught: [
      'A mutex is waited for until its `wait` is over: LockTimeoutError, not before its time',
      'A mutex is waited for not for 0 ms: LockOptionsError',
    ],
  },
  {
    what: 'that reports nothing',
    contract: mutexContract,
    flaw: () => ({ on: () => () => {}, activity: () => [] }),
    caught: [
      'A mutex has events for each step of each caller, and none for re-entry',
      'A mutex has events and shows its holder and its waiters',
    ],
  },
  {
    what: 'that refuses no call when it shuts down',
    contract: mutexContract,
    flaw: () => ({ refuse: () => {} }),
    caught: [
      'A mutex of a client that closes is refused from `refuse` on, also to waiters, and stays with its holder',
    ],
  },
  {
    what: 'with readers that exclude each other',
    contract: readWriteLockContract,
    flaw: (client) => ({
      readWriteLock: (key) => {
        const writeLock = () => client.readWriteLock(key).writeLock();
        return { key, writeLock, readLock: writeLock };
      },
    }),
    caught: ['A read/write lock is shared by readers of one client, and never with a writer'],
  },
  {
    what: 'with writers that share',
    contract: readWriteLockContract,
    flaw: (client) => ({
      readWriteLock: (key) => {
        const readLock = () => client.readWriteLock(key).readLock();
        return { key, readLock, writeLock: readLock };
      },
    }),
    caught: [
      'A read/write lock is shared by readers of one client, and never with a writer',
      'A read/write lock loses no update of writers, with readers in between',
    ],
  },
  {
    what: 'with semaphores that have a permit too many',
    contract: semaphoreContract,
    flaw: (client) => ({
      semaphore: (key, { permits }) => client.semaphore(key, { permits: permits + 1 }),
    }),
    caught: [
      'A semaphore counts the permits of one client',
      'A semaphore lets all its permits be used, and no more',
    ],
  },
  {
    what: 'with multi-locks that forget a part',
    contract: multiLockContract,
    flaw: (client) => ({ multiLock: (locks) => client.multiLock(locks.slice(0, 1)) }),
    caught: [
      'A multi-lock holds all of its parts until it is released',
      'A multi-lock holds none of its parts if one is taken',
    ],
  },
];

async function connected(flaw: Flaw): Promise<LockClient> {
  const client = createEmbeddedLockClient('default');
  await client.connect();
  return overrideMembers<LockClient>(client, flaw(client));
}

describe('The contract', () => {
  it.each(BROKEN)('catches a client $what', async ({ contract, flaw, caught }) => {
    const failed = await runContract((runner) =>
      contract(runner, {
        createClient: () => connected(flaw),
        isShared: false,
        patience: 250,
      }),
    );
    expect(failed).toEqual(expect.arrayContaining([...caught]));
  });

  it('finds nothing wrong with a client that is sound', async () => {
    const failed = await runContract((runner) =>
      lockClientContract(runner, {
        createClient: () => connected(() => ({})),
        isShared: false,
        patience: 15_000,
      }),
    );
    expect(failed).toEqual([]);
  });
});
