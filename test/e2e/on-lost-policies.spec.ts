import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { EmbeddedServer } from '../../lib/embedded/embedded-server.js';
import {
  getLockClientToken,
  LockLostError,
  LockModule,
  type ZooKeeperLockClient,
} from '../../lib/index.js';
import { eventually } from '../support/eventually.js';
import { Apps } from './support/apps.js';
import { LOCK_KINDS } from './support/lock-kinds.js';
import { lossyServiceThat } from './support/lossy-service.js';
import { Room } from './support/room.js';
import { connectTo } from './support/tree-client.js';

describe.each(LOCK_KINDS)('When the session of a @$decorator method expires, its call', (kind) => {
  const Import = lossyServiceThat(kind);
  const apps = new Apps();
  let server: EmbeddedServer;
  let client: ZooKeeperLockClient;
  let room: Room;
  let service: InstanceType<typeof Import>;

  beforeEach(async () => {
    room = new Room();
    server = new EmbeddedServer();
    client = await connectTo(server);
    const app = await apps.boot(
      {
        imports: [LockModule.forRoot()],
        providers: [Import, { provide: Room, useValue: room }],
      },
      (builder) => builder.overrideProvider(getLockClientToken()).useValue(client),
    );
    service = app.get(Import);
  });
  afterEach(async () => {
    room.open();
    await apps.close();
    await client.close();
  });

  /** Comes back when the lease knows. */
  async function expire(): Promise<LockLostError> {
    await room.entered.promise;
    const { signal } = service.lease!;
    server.expire(client.status().sessionId!);
    await eventually('the loss is reported', () => signal.aborted);
    return signal.reason as LockLostError;
  }

  it.each(['byDefault', 'throwing'] as const)(
    'rejects at the end of the method (%s)',
    async (method) => {
      let hasSettled = false;
      const call = service[method]().finally(() => (hasSettled = true));
      const loss = await expire();
      expect(loss).toBeInstanceOf(LockLostError);
      expect(hasSettled).toBe(false);
      room.open();
      await expect(call).rejects.toBe(loss);
      expect(room.log).toEqual(['left']);
    },
  );

  it('rejects with the error of the method, where that fails (throw)', async () => {
    const error = new RangeError('no such file');
    const call = service.failing(error);
    await expire();
    room.open();
    await expect(call).rejects.toBe(error);
  });

  it('rejects at once, and does not wait for the method (abort)', async () => {
    const call = service.aborting();
    call.catch(() => {});
    const loss = await expire();
    await expect(call).rejects.toBe(loss);
    expect(room.log).toEqual([]);
  });

  it('ignores what the abandoned method does later (abort)', async () => {
    const unhandled: unknown[] = [];
    const listener = (error: unknown) => unhandled.push(error);
    process.on('unhandledRejection', listener);
    try {
      const call = service.failingLater(new RangeError('no such file'));
      call.catch(() => {});
      const loss = await expire();
      await expect(call).rejects.toBe(loss);
      room.open();
      await eventually('it has ended', () => room.log.length > 0);
      await new Promise((resolve) => setImmediate(resolve)); // when such rejections are reported
      expect(unhandled).toEqual([]);
    } finally {
      process.off('unhandledRejection', listener);
    }
  });

  it('leaves the lock free for others when the abandoned method has ended (abort)', async () => {
    const call = service.aborting();
    call.catch(() => {});
    await expire();
    room.open();
    await expect(call).rejects.toBeInstanceOf(LockLostError);
    const lease = await kind.rival(client, 'import').acquire();
    await eventually('only that is held', () => client.status().held === 1);
    await lease.release();
  });

  it.each(['ignoring', 'told'] as const)('settles as the method does (%s)', async (method) => {
    const call = service[method]();
    await expire();
    room.open();
    expect(await call).toBe('loaded');
  });

  it('returns the result where the lock was released by hand', async () => {
    const call = service.byDefault();
    await room.entered.promise;
    await service.lease!.release();
    room.open();
    expect(await call).toBe('loaded');
  });
});
