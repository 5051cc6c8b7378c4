import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable, type INestApplication, type Type } from '@nestjs/common';
import type { Redis } from 'ioredis';
import { concat, firstValueFrom, NEVER, of, type Observable } from 'rxjs';
import {
  currentLease,
  InjectLockClient,
  LockLostError,
  LockOptionsError,
  LockStream,
  LockTimeoutError,
  Semaphore,
  WithMultiLock,
  type LockClient,
  type RedisLease,
} from '../../lib/index.js';
import { Deferred, eventually } from '../support/time.js';
import { useRedis } from '../support/fixtures.js';
import { useApps } from './support/apps.js';

let losses: LockLostError[] = [];

@Injectable()
class Renderer {
  running = 0;
  lease?: RedisLease;

  constructor(@InjectLockClient() readonly locks: LockClient) {}

  @Semaphore('render', { permits: 3 })
  async render(until: Promise<void>): Promise<boolean> {
    this.running += 1;
    await until;
    this.running -= 1;
    return currentLease()!.isHeld;
  }

  @Semaphore('render', { permits: 3, onBusy: 'skip' })
  async renderNow(): Promise<string | undefined> {
    return 'rendered';
  }

  @Semaphore('render', { permits: 3, onBusy: (_error: LockTimeoutError, page: string) => page })
  async renderOr(_page: string): Promise<string> {
    return 'rendered';
  }

  @Semaphore('render', { permits: 3, wait: 50 })
  async renderSoon(): Promise<string> {
    return 'rendered';
  }

  @Semaphore('one', { permits: 1 })
  async permit(): Promise<{ ids: readonly string[]; token: bigint }> {
    const lease = currentLease() as RedisLease;
    return { ids: lease.permitIds, token: await lease.fencingToken() };
  }

  @Semaphore('lossy', {
    permits: 1,
    onLost: (error) => losses.push(error),
  })
  async lose(until: Promise<void>): Promise<void> {
    this.lease = currentLease() as RedisLease;
    await until;
  }

  @LockStream('render', { recipe: 'semaphore', permits: 3, onBusy: 'skip' })
  follow(): Observable<string> {
    return concat(of('first page'), NEVER);
  }

  @WithMultiLock(['ledger', { key: 'render', recipe: 'semaphore', permits: 3 }], { onBusy: 'skip' })
  async renderBill(): Promise<string | undefined> {
    return 'rendered';
  }
}

describe('A method with @Semaphore on Redis', () => {
  const server = useRedis();
  const apps = useApps();
  let user: Redis;

  beforeEach(async () => {
    losses = [];
    user = server().client();
    await user.flushall();
  });
  afterEach(async () => {
    await apps.close();
    expect(user.status).toBe('ready');
    user.disconnect();
  });

  const partsWith = (...providers: Type[]) => ({
    clients: [{ backend: 'redis' as const, client: user, watchdogTimeout: 1_500 }],
    providers,
  });
  const boot = (...providers: Type[]) => apps.boot(partsWith(...providers));
  const rendererOf = async (app: Promise<INestApplication>) => (await app).get(Renderer);

  it('runs as many calls at a time in all apps as there are permits, and all in the end', async () => {
    const renderers = await Promise.all([rendererOf(boot(Renderer)), rendererOf(boot(Renderer))]);
    const [one, two] = renderers;
    const running = () => one.running + two.running;
    const until = new Deferred();
    const calls = [...renderers, ...renderers, ...renderers].map((each) =>
      each.render(until.promise),
    );
    await eventually('all permits are taken', () => running() === 3);
    expect(await one.locks.semaphore('render', { permits: 3 }).availablePermits()).toBe(0);
    expect(await one.renderNow()).toBeUndefined();
    expect(await two.renderOr('later')).toBe('later');
    await expect(two.renderSoon()).rejects.toBeInstanceOf(LockTimeoutError);
    expect(running()).toBe(3);

    until.resolve();
    expect(await Promise.all(calls)).toEqual(calls.map(() => true));
    expect(await two.locks.semaphore('render', { permits: 3 }).availablePermits()).toBe(3);
    expect(await one.renderNow()).toBe('rendered');
  });

  it('has a lease with the id of its permit, and a token that grows', async () => {
    const renderer = await rendererOf(boot(Renderer));
    const [first, second] = [await renderer.permit(), await renderer.permit()];
    expect([...first.ids, ...second.ids]).toEqual([
      expect.stringMatching(/^[0-9a-f]{32}$/),
      expect.stringMatching(/^[0-9a-f]{32}$/),
    ]);
    expect(first.ids).not.toEqual(second.ids);
    expect(second.token).toBeGreaterThan(first.token);
  });

  it('is notified by `onLost` and by the signal that its permit is no longer its own', async () => {
    const renderer = await rendererOf(boot(Renderer));
    const until = new Deferred();
    const call = renderer.lose(until.promise);
    const lease = await eventually('it runs', () => renderer.lease);
    await user.del('{lossy}:timeout'); // as a server that has forgotten
    await eventually('the loss is reported', () => losses.length > 0);
    expect(losses).toEqual([expect.any(LockLostError)]);
    expect([lease.isHeld, lease.signal.aborted]).toEqual([false, true]);
    until.resolve();
    await call;
  });

  it('shares its permits with a client that is injected, and with a multi-lock', async () => {
    const renderer = await rendererOf(boot(Renderer));
    const semaphore = renderer.locks.semaphore('render', { permits: 3 });
    await semaphore.using(
      async () => {
        expect(await renderer.renderNow()).toBe('rendered');
        expect(await renderer.renderBill()).toBe('rendered');
        await semaphore.using(async () => {
          expect(await renderer.renderNow()).toBeUndefined();
          expect(await renderer.renderBill()).toBeUndefined();
        });
      },
      { permits: 2 },
    );
    expect(await user.exists('ledger')).toBe(0);
    expect(await semaphore.availablePermits()).toBe(3);
  });

  it('shares its permits with a stream, for as long as that has a subscriber', async () => {
    const renderer = await rendererOf(boot(Renderer));
    const semaphore = renderer.locks.semaphore('render', { permits: 3 });
    const readers = Array.from({ length: 3 }, () => {
      const first = new Deferred();
      const reader = renderer.follow().subscribe({ next: () => first.resolve() });
      return { reader, first: first.promise };
    });
    await Promise.all(readers.map(({ first }) => first));
    expect(await renderer.renderNow()).toBeUndefined();
    expect(await firstValueFrom(renderer.follow(), { defaultValue: 'busy' })).toBe('busy');
    for (const { reader } of readers) reader.unsubscribe();
    await eventually('all are back', async () => (await semaphore.availablePermits()) === 3);
    expect(await renderer.renderNow()).toBe('rendered');
  });

  it('is not the method of an app in which another class has other permits for its key', async () => {
    @Injectable()
    class Printer {
      @Semaphore('render', { permits: 4 })
      async print(): Promise<void> {}
    }
    const error = await apps.bootError(partsWith(Renderer, Printer));
    expect(error).toBeInstanceOf(LockOptionsError);
    expect(error.message).toMatch(/^Option `permits` is (3|4)\. .*, to @\w+ of \w+\.\w+\.$/);
  });

  it('has the number of permits of the app that was deployed last', async () => {
    @Injectable()
    class Printer {
      constructor(@InjectLockClient() readonly locks: LockClient) {}

      @Semaphore('render', { permits: 1, onBusy: 'skip' })
      async print(): Promise<string | undefined> {
        return 'printed';
      }
    }
    const before = await rendererOf(boot(Renderer));
    expect(await before.renderNow()).toBe('rendered');
    const after = (await boot(Printer)).get(Printer);
    expect(await after.print()).toBe('printed');
    await after.locks.semaphore('render', { permits: 1 }).using(async () => {
      expect(await after.print()).toBeUndefined();
    });
    expect(await after.locks.semaphore('render', { permits: 1 }).availablePermits()).toBe(1);
  });
});
