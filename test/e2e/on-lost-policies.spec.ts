import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { currentLease, LockLostError, type Lease } from '../../lib/index.js';
import { eventually } from '../support/time.js';
import { RecordingLogger, Room, useEmbeddedApp } from './support/apps.js';
import { LOCK_KINDS, type LockKind } from './support/lock-kinds.js';

/** A service that locks the key `import` by that decorator, with a method for each policy on loss. */
function serviceThat({ lock }: LockKind) {
  /** What `onLost` was called with. */
  const losses: [LockLostError, string?][] = [];

  @Injectable()
  class Import {
    readonly losses = losses;
    lease?: Lease;

    constructor(private readonly room: Room) {
      losses.length = 0;
    }

    @lock('import')
    async byDefault(): Promise<string> {
      return this.#work();
    }

    @lock('import', { onLost: 'throw' })
    async throwing(): Promise<string> {
      return this.#work();
    }

    @lock('import', { onLost: 'abort' })
    async aborting(): Promise<string> {
      return this.#work();
    }

    @lock('import', { onLost: 'ignore' })
    async ignoring(): Promise<string> {
      return this.#work();
    }

    @lock((_file: string) => 'import', { onLost: (error, file) => losses.push([error, file]) })
    async told(_file: string): Promise<string> {
      return this.#work();
    }

    @lock('import', {
      onLost: async (error) => {
        losses.push([error]);
        throw new Error('the callback fails');
      },
    })
    async toldInVain(): Promise<string> {
      return this.#work();
    }

    @lock((_error: unknown) => 'import', { onLost: 'throw' })
    async failing(error: unknown): Promise<string> {
      await this.#work();
      throw error;
    }

    @lock((_error: unknown) => 'import', { onLost: 'abort' })
    async failingLater(error: unknown): Promise<string> {
      await this.#work();
      throw error;
    }

    async #work(): Promise<string> {
      this.lease = currentLease()!;
      await this.lease.fencingToken(); // from here on the loss of its node is reported
      return this.room.stay('loaded');
    }
  }

  return Import;
}

describe.each(LOCK_KINDS)('With @$decorator', (kind) => {
  const Import = serviceThat(kind);
  let logger: RecordingLogger;
  const app = useEmbeddedApp(() => {
    logger = new RecordingLogger();
    return { providers: [Import], logger };
  });
  const service = () => app.get(Import);

  describe('the call of a method whose session expires', () => {
    /** Comes back when the lease knows. */
    async function expire(): Promise<LockLostError> {
      await app.room.entered.promise;
      const { signal } = service().lease!;
      app.embedded.expire();
      await eventually('the loss is reported', () => signal.aborted);
      return signal.reason as LockLostError;
    }

    it.each(['byDefault', 'throwing'] as const)(
      'rejects at the end of the method (%s)',
      async (method) => {
        let hasSettled = false;
        const importing = service();
        const call = importing[method]().finally(() => (hasSettled = true));
        const loss = await expire();
        expect(loss).toBeInstanceOf(LockLostError);
        expect(hasSettled).toBe(false);
        app.room.open();
        await expect(call).rejects.toBe(loss);
        expect(app.room.log).toEqual(['left']);
      },
    );

    it('rejects with the error of the method, where that fails (throw)', async () => {
      const error = new RangeError('no such file');
      const call = service().failing(error);
      await expire();
      app.room.open();
      await expect(call).rejects.toBe(error);
    });

    it('rejects at once, and does not wait for the method (abort)', async () => {
      const call = service().aborting();
      call.catch(() => {});
      const loss = await expire();
      await expect(call).rejects.toBe(loss);
      expect(app.room.log).toEqual([]);
    });

    it('ignores what the abandoned method does later (abort)', async () => {
      const unhandled: unknown[] = [];
      const listener = (error: unknown) => unhandled.push(error);
      process.on('unhandledRejection', listener);
      try {
        const call = service().failingLater(new RangeError('no such file'));
        call.catch(() => {});
        const loss = await expire();
        await expect(call).rejects.toBe(loss);
        app.room.open();
        await eventually('it has ended', () => app.room.log.length > 0);
        await new Promise((resolve) => setImmediate(resolve)); // when such rejections are reported
        expect(unhandled).toEqual([]);
      } finally {
        process.off('unhandledRejection', listener);
      }
    });

    it('leaves the lock free for others when the abandoned method has ended (abort)', async () => {
      const call = service().aborting();
      call.catch(() => {});
      await expire();
      app.room.open();
      await expect(call).rejects.toBeInstanceOf(LockLostError);
      const lease = await kind.rival(app.client, 'import').acquire();
      await eventually('only that is held', () => app.client.status().held === 1);
      await lease.release();
    });

    it.each(['ignoring', 'told'] as const)('settles as the method does (%s)', async (method) => {
      const call = service()[method]('sales.csv');
      await expire();
      app.room.open();
      expect(await call).toBe('loaded');
    });

    it('returns the result where the lock was released by hand', async () => {
      const call = service().byDefault();
      await app.room.entered.promise;
      await service().lease!.release();
      app.room.open();
      expect(await call).toBe('loaded');
    });
  });

  describe('a method, when an operator takes its lock away,', () => {
    async function takeAway(): Promise<void> {
      await app.room.entered.promise;
      app.embedded.remove(await kind.participants(app.client, 'import'));
      await eventually('the loss is reported', () => service().losses.length > 0);
    }

    it('is notified once, with its arguments, and runs on', async () => {
      const call = service().told('sales.csv');
      await takeAway();

      const { losses, lease } = service();
      const [[error, file]] = losses as [[LockLostError, string]];
      expect(error).toBeInstanceOf(LockLostError);
      const about =
        kind.decorator === 'WithMultiLock'
          ? { key: 'another + import', client: undefined } // its parts may be of several clients
          : { key: 'import', client: 'default' };
      expect(error).toMatchObject({ code: 'LOCK_LOST', ...about });
      expect(file).toBe('sales.csv');
      expect(lease?.isHeld).toBe(false);
      expect(lease?.signal.reason).toBe(error);

      app.room.open();
      expect(await call).toBe('loaded');
      expect(losses.length).toBe(1);
    });

    it('is not notified of a loss that comes after its end', async () => {
      app.room.open();
      await service().told('sales.csv');
      await app.client.close();
      expect(service().losses).toEqual([]);
    });

    it('is not harmed by a callback that fails', async () => {
      const call = service().toldInVain();
      await takeAway();
      app.room.open();
      expect(await call).toBe('loaded');
      expect(logger.lines).toContain('error: onLost of Import.toldInVain failed');
    });
  });
});
