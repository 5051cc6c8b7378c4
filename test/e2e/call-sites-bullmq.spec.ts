import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { BullModule, getQueueToken, OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import type { Job, Queue } from 'bullmq';
import { Deferred } from '../support/deferred.js';
import { eventually } from '../support/eventually.js';
import { RedisServer } from '../support/redis-server.js';
import type { LockKind } from './support/lock-kinds.js';
import { LockedApp } from './support/locked-app.js';
import { PLACED_KINDS } from './support/placed-kinds.js';
import { Room } from './support/room.js';

type Coins = Job<number, number>;

/** The processors of an app that locks by that decorator. */
function processorsThat({ lock }: LockKind) {
  @Processor('coins')
  class Counting extends WorkerHost {
    constructor(private readonly room: Room) {
      super();
    }

    @lock('till:{0.data}')
    async process({ data }: Coins): Promise<number> {
      return this.room.stay(data);
    }
  }

  @Processor('coins')
  class LockBelow extends WorkerHost {
    readonly heard = new Deferred<number>();

    constructor(private readonly room: Room) {
      super();
    }

    async process({ data }: Coins): Promise<number> {
      return data;
    }

    @OnWorkerEvent('completed')
    @lock('till:{0.data}')
    async onCompleted({ returnvalue }: Coins): Promise<void> {
      this.heard.resolve(await this.room.stay(returnvalue));
    }
  }

  @Processor('coins')
  class LockAbove extends WorkerHost {
    readonly heard = new Deferred<number>();

    constructor(private readonly room: Room) {
      super();
    }

    async process({ data }: Coins): Promise<number> {
      return data;
    }

    @lock('till:{0.data}')
    @OnWorkerEvent('completed')
    async onCompleted({ returnvalue }: Coins): Promise<void> {
      this.heard.resolve(await this.room.stay(returnvalue));
    }
  }

  return { Counting, LockBelow, LockAbove };
}

let server: RedisServer;

beforeAll(async () => void (server = await RedisServer.start()));
afterAll(() => server?.stop());

describe.each(PLACED_KINDS)(
  'With LockModule imported $position, the lock of @$decorator is held around',
  (kind) => {
    const { Counting, LockBelow, LockAbove } = processorsThat(kind);
    const start = (processor: new (room: Room) => WorkerHost) =>
      LockedApp.init(kind, {
        imports: [
          BullModule.forRoot({ connection: { host: server.host, port: server.port } }),
          BullModule.registerQueue({ name: 'coins' }),
        ],
        providers: [processor],
      });

    const addJob = (app: LockedApp): Promise<Coins> =>
      app.nest.get<Queue<number, number>>(getQueueToken('coins')).add('count', 3);

    it('the process method of a BullMQ worker', async () => {
      await using app = await start(Counting);
      const queue = app.nest.get<Queue<number, number>>(getQueueToken('coins'));
      const call = async () => {
        const { id } = await addJob(app);
        return eventually('it is done', async () => (await queue.getJob(id!))?.returnvalue);
      };
      expect(await app.held('till:3', call)).toBe(3);
    });

    it.each([
      ['below', LockBelow],
      ['above', LockAbove],
    ])('an @OnWorkerEvent method, lock %s', async (_, processor) => {
      await using app = await start(processor);
      const call = async () => {
        await addJob(app);
        return app.nest.get(processor).heard.promise;
      };
      expect(await app.held('till:3', call)).toBe(3);
    });
  },
);
