import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import {
  currentLease,
  LockClientUnknownError,
  LockKeyError,
  LockOptionsError,
  LockTimeoutError,
  MultiLease,
  WithMultiLock,
  WithMutex,
  type Lock,
  type LockClient,
} from '../../lib/index.js';
import { clientOf, errorOf, isFree, Room, unhandledDuring, useApp } from './support/apps.js';

interface Account {
  id: string;
  balance: number;
}

const keysOf = (...accounts: Account[]) => accounts.map(({ id }) => `account:${id}`);
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

@Injectable()
class Bank {
  constructor(private readonly room: Room) {}

  @WithMultiLock((from: Account, to: Account) => keysOf(from, to), { wait: 10_000 })
  async transfer(from: Account, to: Account, amount: number): Promise<void> {
    await this.withdraw(from, amount);
    await this.deposit(to, amount);
  }

  @WithMutex('account:{0.id}', { wait: 10_000 })
  async withdraw(account: Account, amount: number): Promise<void> {
    await this.deposit(account, -amount);
  }

  @WithMutex('account:{0.id}', { wait: 10_000 })
  async deposit(account: Account, amount: number): Promise<void> {
    const { balance } = account;
    await nextTurn();
    account.balance = balance + amount;
  }

  @WithMultiLock(['b', 'account:{0.id}', ({ id }: Account) => id, 'b'])
  async several(_account: Account): Promise<string> {
    return this.room.stay('done');
  }

  @WithMultiLock([
    'ledger',
    { key: 'ledger', client: 'archive' },
    { key: 'rates', recipe: 'readLock' },
    { key: 'prices', recipe: 'writeLock' },
    { key: 'desk', recipe: 'semaphore', permits: 1 },
  ])
  async close(): Promise<string> {
    return this.room.stay('closed');
  }

  @WithMultiLock(['stock', { key: 'stock', client: 'archive' }], { wait: 10_000 })
  async count(): Promise<void> {
    await nextTurn();
  }

  @WithMultiLock([{ key: 'stock', client: 'archive' }, 'stock'], { wait: 10_000 })
  async recount(): Promise<void> {
    await nextTurn();
  }

  @WithMultiLock(['a', 'b', 'c'], { wait: 20 })
  async impatient(): Promise<void> {}

  @WithMultiLock(['a', 'b', 'c'], { onBusy: 'skip' })
  async skipping(): Promise<string | undefined> {
    return 'done';
  }

  @WithMultiLock(['a', 'b', 'c'], { onBusy: ({ client }) => client ?? 'of any client' })
  async answering(): Promise<string> {
    return 'done';
  }

  @WithMutex('b', { onBusy: ({ client }) => client ?? 'of any client' })
  async answeringForOne(): Promise<string> {
    return 'done';
  }

  @WithMultiLock(['b', 'a', 'b'])
  async leases(): Promise<string[]> {
    return (currentLease() as MultiLease).leases.map(({ key }) => key);
  }

  @WithMultiLock((keys: unknown) => keys as string[])
  async asIs(_keys: unknown): Promise<void> {}
}

describe('A method with @WithMultiLock', () => {
  const app = useApp(() => ({ clients: [{}, { name: 'archive' }], providers: [Bank] }));
  const bank = () => app.get(Bank);
  const account = (id: string): Account => ({ id, balance: 100 });

  it('lets transfers pass that go in opposite directions, one after the other', async () => {
    const [a, b, c] = [account('a'), account('b'), account('c')];
    await Promise.all([
      bank().transfer(a, b, 1),
      bank().transfer(b, a, 2),
      bank().transfer(b, c, 4),
      bank().transfer(c, b, 8),
      bank().transfer(c, a, 16),
      bank().transfer(a, c, 32),
    ]);
    expect([a.balance, b.balance, c.balance]).toEqual([85, 103, 112]);
  });

  it('has one order for the same key of several clients too', async () => {
    await Promise.all([bank().count(), bank().recount()]);
  });

  it('counts a key once that comes twice', async () => {
    const a = account('a');
    await bank().transfer(a, a, 7);
    expect(a.balance).toBe(100);
    expect(await bank().leases()).toEqual(['a', 'b']);
  });

  it('names no client to `onBusy`, unlike a method with one lock', async () => {
    await using _ = await clientOf(app.nest).mutex('b').acquire();
    expect(await bank().answering()).toBe('of any client');
    expect(await bank().answeringForOne()).toBe('default');
  });

  it.each(['b', 'account:7', '7'])('holds each of its keys (%s)', async (key) => {
    expect(await app.held(key, () => bank().several(account('7')))).toBe('done');
  });

  it.each<[string, (client: (name?: string) => LockClient) => [LockClient, Lock]]>([
    ['a mutex', (of) => [of(), of().mutex('ledger')]],
    ['a mutex of another client', (of) => [of('archive'), of('archive').mutex('ledger')]],
    ['a read lock', (of) => [of(), of().readWriteLock('rates').writeLock()]],
    ['a write lock', (of) => [of(), of().readWriteLock('prices').readLock()]],
    ['a permit', (of) => [of(), of().semaphore('desk', { permits: 1 })]],
  ])('holds what a member says: %s', async (_, rivalOf) => {
    const [owner, rival] = rivalOf((name) => clientOf(app.nest, name));
    expect(await app.apps.held(owner, rival, () => bank().close())).toBe('closed');
  });

  it('shares a read lock', async () => {
    const reader = await app.client.readWriteLock('rates').readLock().acquire();
    app.room.open();
    expect(await bank().close()).toBe('closed');
    await reader.release();
  });

  it('has one `wait` for all, and releases what it had', async () => {
    const last = await app.client.mutex('c').acquire();
    const error = await errorOf(bank().impatient());
    expect(error).toBeInstanceOf(LockTimeoutError);
    expect(error).toMatchObject({ code: 'LOCK_TIMEOUT', key: 'a + b + c', waitedMs: 20 });
    expect(await isFree(app.client.mutex('a'))).toBe(true);
    expect(await isFree(app.client.mutex('b'))).toBe(true);
    await last.release();
  });

  it('makes one attempt with `onBusy`, and releases what it had', async () => {
    let contended = 0;
    app.client.on('contended', () => (contended += 1));
    const last = await app.client.mutex('c').acquire();
    expect(await bank().skipping()).toBeUndefined();
    expect(contended).toBe(0);
    expect(await isFree(app.client.mutex('a'))).toBe(true);
    await last.release();
    expect(await bank().skipping()).toBe('done');
  });

  it.each([
    [[], 'Option `keys` is an empty array. Give an array of at least one key'],
    ['a', 'Option `keys` is "a". Give an array of at least one key'],
    [undefined, 'Option `keys` is undefined. Give an array of at least one key'],
    [[{ key: 'a', recipe: 'lock' }], "Give 'mutex', 'readLock', 'writeLock' or 'semaphore'"],
    [[{ key: 'a', recipe: 'semaphore' }], 'Option `permits` is undefined. Give a whole number'],
    [[{ key: 'a', permits: 3 }], "Option `permits` is 3. Give them to the recipe 'semaphore' only"],
    [[{ key: 'a', client: 7 }], 'Option `client` is 7. Give the name of a lock client'],
    [
      [
        { key: 'rates', recipe: 'readLock' },
        { key: 'rates', recipe: 'writeLock' },
      ],
      'Option `locks` is an array. Give each of them once: "rates" would wait for itself',
    ],
  ])('refuses a call for which its function gives %j', async (keys, message) => {
    const error = await errorOf(bank().asIs(keys));
    expect(error).toBeInstanceOf(LockOptionsError);
    expect(error.message).toContain(message);
    expect(error.message).toContain(', to @WithMultiLock of Bank.asIs.');
  });

  it.each([
    [['a', ''], 'it is empty'],
    [['a', undefined], 'it must be a string'],
    [['a', null], 'it must be a string'],
    [['a', 7], 'it must be a string'],
    [
      ['a', 'account:[object Object]'],
      'an object was turned into text; build the key from its fields',
    ],
    [[{ key: undefined }], 'it must be a string'],
    [[{ key: 'undefined', recipe: 'readLock' }], '"undefined" in it is a value that is missing'],
  ])('refuses a call with the keys %j', async (keys, why) => {
    const error = await errorOf(bank().asIs(keys));
    expect(error).toBeInstanceOf(LockKeyError);
    expect(error.message).toContain(`${why} (it is the key of Bank.asIs)`);
  });

  it.each<[string, (late: () => Promise<string>) => unknown]>([
    ['of all keys', (late) => late()],
    ['in place of keys', (late) => [late(), late()]],
    ['in place of the keys of members', (late) => ['a', { key: late() }, { key: late() }]],
  ])(
    'refuses a call with a promise %s, whose failure is no one of the process',
    async (_, keys) => {
      const late = () => Promise.reject(new Error('too late'));
      const refused = async () => {
        const error = await errorOf(bank().asIs(keys(late)));
        expect(error).toMatchObject({ code: expect.stringMatching(/^LOCK_(KEY|OPTIONS)$/) });
      };
      expect(await unhandledDuring(refused)).toEqual([]);
    },
  );

  it('refuses a call that asks for an unknown client', async () => {
    const error = await errorOf(bank().asIs([{ key: 'a', client: 'moon' }]));
    expect(error).toBeInstanceOf(LockClientUnknownError);
    expect(error.message).toContain('lock client "moon", which Bank.asIs asks for');
  });
});
