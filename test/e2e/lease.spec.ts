import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import {
  currentLease,
  LockModule,
  LockOptionsError,
  WithMultiLock,
  type Lease,
  type LockModuleOptions,
} from '../../lib/index.js';
import { eventually } from '../support/eventually.js';
import { RedisServer } from '../support/redis-server.js';
import { Apps, clientOf } from './support/apps.js';
import { LOCK_KINDS, type LockKind } from './support/lock-kinds.js';

/** A lease that is long enough for a busy machine, and ends long before the watchdog's of 30 s. */
const LEASE = 1_500;

/** A service that locks by that decorator. */
function serviceThat({ lock }: LockKind, lease = LEASE) {
  @Injectable()
  class Import {
    @lock('import', { lease, onLost: 'ignore' })
    async untilLost(): Promise<Lease> {
      const current = currentLease()!;
      await new Promise((resolve) => current.signal.addEventListener('abort', resolve));
      return current;
    }
  }

  return Import;
}

const apps = new Apps();
afterEach(() => apps.close());

const bootError = (provider: new () => object, ...clients: LockModuleOptions[]) =>
  apps.boot({ imports: clients.map((it) => LockModule.forRoot(it)), providers: [provider] }).then(
    () => undefined,
    (error: unknown) => error,
  );

describe.each(LOCK_KINDS)('The option `lease` of @$decorator', (kind) => {
  it('keeps an app on a backend without leases from starting', async () => {
    const error = await bootError(serviceThat(kind), {});
    expect(error).toBeInstanceOf(LockOptionsError);
    expect(error).toMatchObject({
      option: 'lease',
      value: LEASE,
      client: 'default',
      message: `Option \`lease\` is ${LEASE}. Give none: on this backend the session is the lease, and \`sessionTimeout\` is its length, to @${kind.decorator} of Import.untilLost.`,
    });
  });
});

describe('On Redis', () => {
  let server: RedisServer;
  const redis = (): LockModuleOptions => ({ backend: 'redis', connect: server.url });

  beforeAll(async () => void (server = await RedisServer.start()));
  afterAll(() => server.stop());

  it.each(LOCK_KINDS)('a lock by @$decorator ends with its `lease`', async (kind) => {
    await server.command('FLUSHALL'); // the kinds have one key
    const Import = serviceThat(kind);
    const app = await apps.boot({ imports: [LockModule.forRoot(redis())], providers: [Import] });
    const begun = performance.now();
    const lease = await app.get(Import).untilLost();
    expect(performance.now() - begun).toBeGreaterThan(LEASE * 0.9);
    expect(lease.isHeld).toBe(false);
    const rival = kind.rival(clientOf(app), 'import');
    await eventually('the lock is free', async () => (await rival.tryAcquire())?.isHeld);
  });

  it.each([99, 1.5, 2 ** 31])('a `lease` of %p keeps an app from starting', async (lease) => {
    const error = await bootError(serviceThat(LOCK_KINDS[0]!, lease), redis());
    expect((error as Error).message).toBe(
      `Option \`lease\` is ${lease}. Give whole milliseconds from 100 to 2^31 - 1, to @WithMutex of Import.untilLost.`,
    );
  });

  it('a `lease` of several locks is refused where one of them is on a backend without', async () => {
    @Injectable()
    class Bank {
      @WithMultiLock(['a', { key: 'b', client: 'local' }], { lease: LEASE })
      async close(): Promise<number> {
        return 0;
      }
    }

    const error = await bootError(Bank, redis(), { name: 'local' });
    expect(error).toMatchObject({ option: 'lease', client: 'local' });
    expect((error as Error).message).toContain('to @WithMultiLock of Bank.close.');
  });

  it('a `lease` of locks that are known in the call is refused there', async () => {
    @Injectable()
    class Bank {
      @WithMultiLock((client: string) => ['a', { key: 'b', client }], { lease: LEASE })
      async close(_client: string): Promise<string> {
        return 'closed';
      }
    }

    const app = await apps.boot({
      imports: [LockModule.forRoot(redis()), LockModule.forRoot({ name: 'local' })],
      providers: [Bank],
    });
    expect(await app.get(Bank).close('default')).toBe('closed');
    await expect(app.get(Bank).close('local')).rejects.toMatchObject({
      option: 'lease',
      client: 'local',
    });
  });
});
