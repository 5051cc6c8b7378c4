import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { of } from 'rxjs';
import {
  createLockClient,
  currentLease,
  type LockClient,
  LockKeyError,
  LockLostError,
  LockOptionsError,
  LockTimeoutError,
  withLock,
} from '../../../lib/standalone/index.js';
import { type ZooKeeperLease } from '../../../lib/zookeeper/locks/zookeeper-lease.js';

let client: LockClient;
beforeEach(async () => (client = await createLockClient()));
afterEach(() => client.close());

/** A function that counts its calls under way, until they are let go. */
function gate() {
  const waiting: (() => void)[] = [];
  const fn = async (..._args: unknown[]) => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    return 'done';
  };
  return { fn, waiting, open: () => waiting.splice(0).forEach((resolve) => resolve()) };
}

const turns = async (count = 20) => {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
};

describe('withLock', () => {
  it('runs calls of one key one at a time, and those of other keys beside them', async () => {
    const { fn, waiting, open } = gate();
    const pay = withLock(fn, 'order:{0.id}', { client });
    const calls = [pay({ id: 1 }), pay({ id: 1 }), pay({ id: 2 })];
    await turns();
    expect(waiting).toHaveLength(2);
    open();
    await turns();
    expect(waiting).toHaveLength(1);
    open();
    expect(await Promise.all(calls)).toEqual(['done', 'done', 'done']);
  });

  it('hands on `this`, the arguments, results and errors, and asks the key for each call', async () => {
    const keys: string[] = [];
    client.on('acquired', ({ key }) => void keys.push(key));
    const service = {
      tax: 2,
      total: withLock(
        function (this: { tax: number }, id: string, price: number) {
          if (price < 0) throw new RangeError(id);
          return price * this.tax;
        },
        (id: string) => `bill:${id}`,
        { client },
      ),
    };
    expect(await service.total('a', 21)).toBe(42);
    await expect(service.total('b', -1)).rejects.toThrow(RangeError);
    expect(keys).toEqual(['bill:a', 'bill:b']);
    expect(client.status().held).toBe(0);
  });

  it('re-enters in nested calls, and has the lease as the current one', async () => {
    const inner = withLock(() => currentLease()?.key, 'k', { client, wait: 1_000 });
    const outer = withLock(() => inner(), 'k', { client });
    expect(await outer()).toBe('k');
  });

  it('takes read locks, write locks and permits', async () => {
    const { fn, waiting, open } = gate();
    const read = withLock(fn, 'page', { client, recipe: 'readLock' });
    const write = withLock(fn, 'page', { client, recipe: 'writeLock' });
    const render = withLock(fn, 'render', { client, recipe: 'semaphore', permits: 2 });
    const calls = [read(), read(), write(), render(), render(), render()];
    await turns();
    expect(waiting).toHaveLength(4);
    open();
    await turns();
    expect(waiting).toHaveLength(2);
    open();
    await Promise.all(calls);
  });

  it('does not run a call that gets no lock, as `wait`, `onBusy` and `signal` say', async () => {
    const held = await client.mutex('k').acquire();
    let runs = 0;
    const fn = (name: string) => `${name} ${++runs}`;
    const timely = withLock(fn, 'k', { client, wait: 1 });
    await expect(timely('a')).rejects.toThrow(LockTimeoutError);
    const skip: string | undefined = await withLock(fn, 'k', { client, onBusy: 'skip' })('a');
    expect(skip).toBeUndefined();
    const onBusy = ({ key }: LockTimeoutError, name: string) => [key!, name];
    const busy: string | string[] = await withLock(fn, 'k', { client, onBusy })('a');
    expect(busy).toEqual(['k', 'a']);
    const signal = (name: string) => AbortSignal.abort(name);
    await expect(withLock(fn, 'k', { client, signal })('left')).rejects.toMatchObject({
      code: 'LOCK_ABORTED',
      cause: 'left',
    });
    await held.release();
    expect(await withLock(fn, 'k', { client })('b')).toBe('b 1');
  });

  it.each(['throw', 'abort', 'ignore'] as const)(
    'tells a loss as onLost %s says',
    async (onLost) => {
      const { fn, open } = gate();
      let lease: ZooKeeperLease | undefined;
      const work = async () => {
        lease = currentLease() as ZooKeeperLease;
        return await fn();
      };
      const call = withLock(work, 'k', { client, onLost })();
      const ended = call.then(String, (error: Error) => error.constructor.name);
      await turns();
      lease!.hold.markLost('the test says so');
      if (onLost === 'abort') expect(await ended).toBe(LockLostError.name);
      open();
      expect(await ended).toBe(onLost === 'ignore' ? 'done' : LockLostError.name);
    },
  );

  it('warns of an `onLost` that fails, and calls it outside of the lease', async () => {
    const { fn, open } = gate();
    const emitWarning = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
    let lease: ZooKeeperLease | undefined;
    const leases: unknown[] = [];
    const onLost = () => {
      leases.push(currentLease());
      throw new Error('no mail server');
    };
    const work = () => ((lease = currentLease() as ZooKeeperLease), fn());
    const call = withLock(work, 'k', { client, onLost })();
    await turns();
    lease!.hold.markLost('the test says so');
    expect(emitWarning).toHaveBeenCalledWith('onLost of work failed: Error: no mail server');
    emitWarning.mockRestore();
    expect(leases).toEqual([undefined]);
    open();
    expect(await call).toBe('done');
  });

  it.each([
    ['an Observable', () => of(1)],
    ['an async generator', async function* () {}],
    ['a generator', function* () {}],
    ['a promise of a stream', async () => of(1)],
  ])('refuses %s, which would do its work without the lock', async (_, fn) => {
    await expect(withLock(fn as () => unknown, 'k', { client })()).rejects.toMatchObject({
      code: 'LOCK_OPTIONS',
      option: 'fn',
    });
    expect(client.status().held).toBe(0);
  });

  it.each<[string, unknown[], string]>([
    ['no function', [7, 'k', {}], 'fn'],
    ['no options', [sell, 'k'], 'client'],
    ['no client', [sell, 'k', { client: 'default' }], 'client'],
    ['an unknown option', [sell, 'k', { waits: 5 }], 'waits'],
    ['an option out of range', [sell, 'k', { wait: -5 }], 'wait'],
    ['an unknown recipe', [sell, 'k', { recipe: 'latch' }], 'recipe'],
    ['the recipe of another decorator', [sell, 'k', { recipe: 'leaderLatch' }], 'recipe'],
    ['a recipe that is none here', [sell, 'k', { recipe: 'semaphoreMutex' }], 'recipe'],
    ['permits of a mutex', [sell, 'k', { permits: 3 }], 'permits'],
    ['a fixed lease where there are none', [sell, 'k', { lease: 500 }], 'lease'],
  ])('refuses %s at once, and names the function', (_, [fn, key, options], option) => {
    const given = options && { client, ...options };
    const make = () => withLock(fn as () => void, key as string, given as { client: LockClient });
    expect(make).toThrow(LockOptionsError);
    expect(make).toThrow(`Option \`${option}\``);
    expect(make).toThrow(/to withLock\(\) of (?:sell|a function without a name)/);
  });

  it('refuses a key that names no lock: a literal at once, the others in the call', async () => {
    expect(() => withLock(sell, '', { client })).toThrow(LockKeyError);
    const missing = withLock(sell, 'seat:{0}', { client });
    await expect(missing()).rejects.toThrow(/\{0\} is undefined in a call of sell/);
    await expect(withLock(sell, () => '', { client })()).rejects.toThrow(LockKeyError);
  });
});

function sell(): void {}
