import { describe, expect, it } from '@jest/globals';
import type { LockClient } from '../../../lib/core/index.js';
import { createEmbeddedLockClient } from '../../../lib/embedded/create-embedded-lock-client.js';
import {
  type ContractOptions,
  type ContractRunner,
  lockClientContract,
  multiLockContract,
  mutexContract,
  readWriteLockContract,
  semaphoreContract,
} from '../../../lib/testing/index.js';
import { overrideMembers } from '../../../lib/testing/testing-client.js';

type Step = () => Promise<void>;

/** What stands in one `describe`. */
interface Block {
  readonly path: readonly string[];
  readonly before: Step[];
  readonly after: Step[];
}

/** Runs a contract by itself, as a test runner of its own, and returns the names of the cases that failed. */
async function runContract(define: (runner: ContractRunner) => void): Promise<string[]> {
  const cases: { readonly name: string; readonly body: Step; readonly block: Block }[] = [];
  let block: Block = { path: [], before: [], after: [] };
  define({
    describe: (name, body) => {
      const outer = block;
      const { path, before, after } = outer;
      block = { path: [...path, name], before: [...before], after: [...after] };
      body();
      block = outer;
    },
    it: (name, body) => void cases.push({ name: [...block.path, name].join(' '), body, block }),
    beforeEach: (body) => void block.before.push(body),
    afterEach: (body) => void block.after.push(body),
  });
  const failed: string[] = [];
  for (const { name, body, block } of cases) {
    for (const step of block.before) await step();
    await body().catch(() => failed.push(name));
    for (const step of block.after) await step();
  }
  return failed;
}

/** What is wrong with a client, in the members that take the place of its own. */
type Flaw = (client: LockClient) => Partial<LockClient>;

type Contract = (runner: ContractRunner, options: ContractOptions) => void;

let strangers = 0;

/** What is wrong with a client, and the cases of its contract that have to find it, among others. */
const BROKEN: readonly [what: string, contract: Contract, flaw: Flaw, ...caught: string[]][] = [
  [
    'with mutexes that exclude no other caller',
    mutexContract,
    (client) => ({ mutex: (key) => client.mutex(`${key}-${++strangers}`) }),
    'A mutex excludes all but one at a time',
    'A mutex excludes a second caller of the same client, until the first releases it',
  ],
  [
    'with mutexes that are not reentrant',
    mutexContract,
    (client) => ({ mutex: (key) => client.semaphoreMutex(key) }),
    'A mutex is re-entered inside `using`, to any depth',
  ],
  [
    'with semaphore mutexes that are reentrant',
    mutexContract,
    (client) => ({ semaphoreMutex: (key) => client.mutex(key) }),
    'A mutex is re-entered not if it is a semaphoreMutex',
  ],
  [
    'that has one lock for all keys',
    mutexContract,
    (client) => ({ mutex: () => client.mutex('all') }),
    'A mutex excludes no caller of another key',
  ],
  [
    'that knows no deadlines',
    mutexContract,
    (client) => ({
      mutex: (key) => {
        const mutex = client.mutex(key);
        return overrideMembers(mutex, {
          acquire: (options) => mutex.acquire({ ...options, wait: 'forever' }),
        });
      },
    }),
    'A mutex is waited for until its `wait` is over: LockTimeoutError, not before its time',
    'A mutex is waited for not for 0 ms: LockOptionsError',
  ],
  [
    'that reports nothing',
    mutexContract,
    () => ({ on: () => () => {}, activity: () => [] }),
    'A mutex has events for each step of each caller, and none for re-entry',
    'A mutex has events and shows its holder and its waiters',
  ],
  [
    'that announces the first of its waiters only',
    mutexContract,
    (client) => {
      let listeners = 0;
      const on: LockClient['on'] = (event, listener) =>
        event === 'contended' && ++listeners > 1 ? () => {} : client.on(event, listener);
      return { on };
    },
    'A mutex excludes in the order in which the waiters of one client came',
  ],
  [
    'that refuses no call when it shuts down',
    mutexContract,
    () => ({ refuse: () => {} }),
    'A mutex of a client that closes is refused from `refuse` on, also to waiters, and stays with its holder',
  ],
  [
    'with readers that exclude each other',
    readWriteLockContract,
    (client) => ({
      readWriteLock: (key) => {
        const writeLock = () => client.readWriteLock(key).writeLock();
        return { key, writeLock, readLock: writeLock };
      },
    }),
    'A read/write lock is shared by readers of one client, and never with a writer',
  ],
  [
    'with writers that share',
    readWriteLockContract,
    (client) => ({
      readWriteLock: (key) => {
        const readLock = () => client.readWriteLock(key).readLock();
        return { key, readLock, writeLock: readLock };
      },
    }),
    'A read/write lock is shared by readers of one client, and never with a writer',
    'A read/write lock loses no update of writers, with readers in between',
  ],
  [
    'with semaphores that have a permit too many',
    semaphoreContract,
    (client) => ({
      semaphore: (key, { permits }) => client.semaphore(key, { permits: permits + 1 }),
    }),
    'A semaphore counts the permits of one client',
    'A semaphore lets all its permits be used, and no more',
  ],
  [
    'with multi-locks that forget a part',
    multiLockContract,
    (client) => ({ multiLock: (locks) => client.multiLock(locks.slice(0, 1)) }),
    'A multi-lock holds all of its parts until it is released',
    'A multi-lock holds none of its parts if one is taken',
  ],
];

/** The cases that a client with that flaw fails. */
function failuresOf(contract: Contract, flaw: Flaw, patience: number): Promise<string[]> {
  const createClient = async () => {
    const client = createEmbeddedLockClient('default');
    await client.connect();
    return overrideMembers<LockClient>(client, flaw(client));
  };
  return runContract((runner) => contract(runner, { createClient, isShared: false, patience }));
}

describe('The contract', () => {
  it.each(BROKEN)('catches a client %s', async (_, contract, flaw, ...caught) => {
    const failed = await failuresOf(contract, flaw, 100);
    expect(failed).toEqual(expect.arrayContaining(caught));
  });

  it('finds nothing wrong with a client that is sound', async () => {
    expect(await failuresOf(lockClientContract, () => ({}), 15_000)).toEqual([]);
  });
});
