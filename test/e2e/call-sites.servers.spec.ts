import { describe, expect, it } from '@jest/globals';
import { BullModule, getQueueToken, OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import type { Job, Queue } from 'bullmq';
import { Deferred, eventually } from '../support/time.js';
import { useRedis } from '../support/fixtures.js';
import { clientOf, Room, useApps } from './support/apps.js';
import { PLACED_KINDS, type LockKind } from './support/lock-kinds.js';

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

  /** The processor of an app that does something with the result. */
  abstract class Hearing extends WorkerHost {
    readonly heard = new Deferred<number>();

    async process({ data }: Coins): Promise<number> {
      return data;
    }
  }

  @Processor('coins')
  class LockBelow extends Hearing {
    constructor(private readonly room: Room) {
      super();
    }

    @OnWorkerEvent('completed')
    @lock('till:{0.data}')
    async onCompleted({ returnvalue }: Coins): Promise<void> {
      this.heard.resolve(await this.room.stay(returnvalue));
    }
  }

  @Processor('coins')
  class LockAbove extends Hearing {
    constructor(private readonly room: Room) {
      super();
    }

    @lock('till:{0.data}')
    @OnWorkerEvent('completed')
    async onCompleted({ returnvalue }: Coins): Promise<void> {
      this.heard.resolve(await this.room.stay(returnvalue));
    }
  }

  return { Counting, LockBelow, LockAbove };
}

const redis = useRedis();

describe.each(PLACED_KINDS)(
  'With LockModule imported $position, the lock of @$decorator is held around',
  ({ position, ...kind }) => {
    const { Counting, LockBelow, LockAbove } = processorsThat(kind);
    const apps = useApps();

    it.each([
      ['the process method of a BullMQ worker', Counting],
      ['an @OnWorkerEvent method, lock below', LockBelow],
      ['an @OnWorkerEvent method, lock above', LockAbove],
    ])('%s', async (_, processor) => {
      const { host, port } = redis();
      const app = await apps.boot({
        imports: [
          BullModule.forRoot({ connection: { host, port } }),
          BullModule.registerQueue({ name: 'coins' }),
        ],
        providers: [processor],
        position,
      });
      const queue = app.get<Queue<number, number>>(getQueueToken('coins'));
      const call = async () => {
        const { id } = await queue.add('count', 3);
        const worker = app.get<WorkerHost>(processor);
        if ('heard' in worker) return (worker.heard as Deferred<number>).promise;
        return eventually('it is done', async () => (await queue.getJob(id!))?.returnvalue);
      };
      const client = clientOf(app);
      expect(await apps.held(client, kind.rival(client, 'till:3'), call)).toBe(3);
    });
  },
);
