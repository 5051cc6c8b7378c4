import { describe, expect, it } from '@jest/globals';
import { ConflictException, Injectable } from '@nestjs/common';
import {
  LockDefaults,
  type LockModuleOptions,
  LockQueueFullError,
  RunOnce,
  WithMutex,
} from '../../lib/index.js';
import { createLockClient } from '../../lib/standalone/index.js';
import { LockTesting, LockTestingModule } from '../../lib/testing/index.js';
import { clientOf, errorOf, useApps } from './support/apps.js';

@Injectable()
class Orders {
  @WithMutex('order')
  async pay(): Promise<string | undefined> {
    return 'paid';
  }

  @WithMutex('order', { onBusy: 'skip' })
  async skip(): Promise<string | undefined> {
    return 'paid';
  }

  @WithMutex('order', { wait: 60_000 })
  async queue(): Promise<string | undefined> {
    return 'paid';
  }

  @RunOnce('job', { atMost: 60_000 })
  async once(): Promise<string | undefined> {
    return 'done';
  }

  @WithMutex('lost')
  async lose(lose: (key: string) => Promise<void>): Promise<string> {
    await lose('lost');
    return 'done';
  }
}

@Injectable()
@LockDefaults({ onBusy: () => 'busy' })
class Defaults {
  @WithMutex('order')
  async pay(): Promise<string> {
    return 'paid';
  }
}

@Injectable()
class Patient {
  @WithMutex('order', { wait: 'forever' })
  async pay(): Promise<void> {}
}

const conflict = () => {
  throw new ConflictException();
};

describe('The policies of a client', () => {
  const apps = useApps();
  const boot = (options: LockModuleOptions) =>
    apps.boot({ clients: [options], providers: [Orders, Defaults], imports: [LockTestingModule] });

  it('are those of its decorated methods that have none', async () => {
    const app = await boot({ onBusy: conflict, onLost: 'ignore' });
    const [orders, defaults] = [app.get(Orders), app.get(Defaults)];
    await using _ = await clientOf(app).mutex('order').acquire();
    expect(await errorOf(orders.pay())).toBeInstanceOf(ConflictException);
    expect(await orders.skip()).toBeUndefined();
    expect(await defaults.pay()).toBe('busy');
    await using _job = await clientOf(app).semaphoreMutex('job').acquire();
    expect(await orders.once()).toBeUndefined();
    expect(await orders.lose((key) => app.get(LockTesting).loseLease(key))).toBe('done');
  });

  it('are those of its registration, also where a test has put another client in its place', async () => {
    await using client = await createLockClient();
    const app = await apps.boot({ client, clients: [{ onBusy: conflict }], providers: [Orders] });
    await using _ = await client.mutex('order').acquire();
    expect(await errorOf(app.get(Orders).pay())).toBeInstanceOf(ConflictException);
  });

  it('do not take an overloaded client for a busy lock: the call fails, as it is not known whether another does its work', async () => {
    const app = await boot({ onBusy: 'skip', maxWaiters: 1 });
    const [orders, lease] = [app.get(Orders), await clientOf(app).mutex('order').acquire()];
    const waiting = orders.queue();
    expect(await errorOf(orders.queue())).toBeInstanceOf(LockQueueFullError);
    expect(await orders.pay()).toBeUndefined(); // does not wait, so it is not counted
    await lease.release();
    expect(await waiting).toBe('paid');
  });

  it.each([
    [{ onBusy: 'wait' }, 'onBusy'],
    [{ onBusy: null }, 'onBusy'],
    [{ onLost: 'skip' }, 'onLost'],
  ])('are refused as %j', async (options, option) => {
    const error = await apps.bootError({ clients: [options as LockModuleOptions] });
    expect(error).toMatchObject({ code: 'LOCK_OPTIONS', option });
  });

  it('are refused where they do not go together with a method', async () => {
    const error = await apps.bootError({ clients: [{ onBusy: 'skip' }], providers: [Patient] });
    expect(error).toMatchObject({ code: 'LOCK_OPTIONS', option: 'wait' });
    expect(error.message).toContain('Patient.pay');
  });
});
