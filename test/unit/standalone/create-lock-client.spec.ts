import { describe, expect, it } from '@jest/globals';
import {
  createLockClient,
  type LockClientOptions,
  LockClientClosedError,
  LockConnectionError,
  LockLostError,
} from '../../../lib/standalone/index.js';
import { noMoreHandlesThan, openHandles } from '../../e2e/support/open-handles.js';

const NOWHERE = [1, 2, 3].map((port) => `redis://127.0.0.1:${port}`);

describe('createLockClient', () => {
  it('connects a client that is embedded by default, and shares its locks with those of its name', async () => {
    const [one, same, other] = await Promise.all([
      createLockClient(),
      createLockClient({ name: 'default' }),
      createLockClient({ name: 'other' }),
    ]);
    expect(one.status()).toMatchObject({ health: 'up' });
    await one.mutex('k').using(async () => {
      expect(await same.mutex('k').tryAcquire()).toBeUndefined();
      expect(await other.mutex('k').tryAcquire()).toBeDefined();
    });
    await Promise.all([one, same, other].map((client) => client.close()));
  });

  it('ends a client and a lease at the end of their blocks', async () => {
    let escaped;
    {
      await using client = await createLockClient({ name: 'blocks' });
      {
        await using lease = await client.mutex('k').acquire();
        expect(lease.isHeld).toBe(true);
      }
      expect(client.status().held).toBe(0);
      escaped = client;
    }
    await expect(escaped.mutex('k').acquire()).rejects.toThrow(LockClientClosedError);
  });

  it('keeps others out until work has ended that outlives the block of its client', async () => {
    await using others = await createLockClient({ name: 'outlived' });
    let end!: () => void;
    let signal: AbortSignal | undefined;
    let work: Promise<void>;
    {
      await using client = await createLockClient({ name: 'outlived' });
      work = client.mutex('k').using(async (lease) => {
        signal = lease.signal;
        await new Promise<void>((resolve) => (end = resolve));
      });
      work.catch(() => {});
      while (signal === undefined) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(signal.reason).toBeInstanceOf(LockLostError);
    expect(await others.mutex('k').tryAcquire()).toBeUndefined();
    end();
    await work;
    await using lease = await others.mutex('k').acquire({ wait: 10_000 });
    expect(lease.isHeld).toBe(true);
  });

  it.each<[unknown, string]>([
    [null, 'options'],
    ['redis://localhost', 'options'],
    [{ name: '' }, 'name'],
    [{ name: 7 }, 'name'],
    [{ backend: 'etcd' }, 'backend'],
    [{ connect: 'redis://localhost' }, 'backend'],
    [{ backend: 'redis', conect: 'redis://localhost' }, 'conect'],
    [{ drainTimeout: 5 }, 'drainTimeout'],
    [{ onBusy: 'skip' }, 'onBusy'],
    [{ logOperations: true }, 'logOperations'],
  ])('refuses %j', async (options, option) => {
    const creating = createLockClient(options as LockClientOptions);
    await expect(creating).rejects.toMatchObject({ code: 'LOCK_OPTIONS', option });
  });

  it.each<[string, LockClientOptions]>([
    ['Redis', { backend: 'redis', connect: 'redis://127.0.0.1:1', connectTimeout: 50 }],
    ['RedLock', { backend: 'redis', nodes: NOWHERE, connectTimeout: 50 }],
    ['ZooKeeper', { backend: 'zookeeper', connect: '127.0.0.1:1', connectTimeout: 50 }],
  ])('leaves nothing open when it cannot connect to %s', async (_, options) => {
    const before = openHandles();
    await expect(createLockClient(options)).rejects.toThrow(LockConnectionError);
    await noMoreHandlesThan(before);
  });
});
