import { afterEach, describe, expect, it } from '@jest/globals';
import type KeyvRedis from '@keyv/redis';
import { createKeyv, type RedisClientType } from '@keyv/redis';
import { BullModule, getQueueToken, Processor, WorkerHost } from '@nestjs/bullmq';
import { type Cache, CACHE_MANAGER, CacheModule } from '@nestjs/cache-manager';
import { Global, Inject, type INestApplication, Module, type ModuleMetadata } from '@nestjs/common';
import type { Job, Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { LockModule, WithMutex } from '../../lib/index.js';
import { Program } from '../faults/support/program.js';
import { KEPT } from '../support/redis-server.js';
import { eventually } from '../support/time.js';
import { useRedis } from '../support/fixtures.js';
import { clientOf, useApps } from './support/apps.js';
import { noMoreHandlesThan, openHandles } from './support/open-handles.js';

const server = useRedis();
const apps = useApps();

/** The client that a module of another package has made, for locks; and a use of it that shows that it works. */
interface Source {
  readonly parts: () => ModuleMetadata;
  readonly use: (app: INestApplication) => Promise<unknown>;
}

const ofCache: Source = {
  parts: () => ({
    imports: [
      CacheModule.register({ isGlobal: true, stores: [createKeyv(server().url)] }),
      LockModule.forRootAsync({
        inject: [CACHE_MANAGER],
        useFactory: (cache: Cache) => {
          const { client } = cache.stores[0]!.store as KeyvRedis<unknown>;
          return { backend: 'redis', client: client as RedisClientType };
        },
      }),
    ],
  }),
  use: async (app) => app.get<Cache>(CACHE_MANAGER).set('cached', 1),
};

const CONNECTION = Symbol('connection');

/** BullMQ does not close a client that it was given. */
@Global()
@Module({
  providers: [
    {
      provide: CONNECTION,
      useFactory: () => new Redis(server().url, { maxRetriesPerRequest: null }),
    },
  ],
  exports: [CONNECTION],
})
class ConnectionModule {
  constructor(@Inject(CONNECTION) private readonly connection: Redis) {}

  onApplicationShutdown(): void {
    this.connection.disconnect();
  }
}

@Processor('coins')
class Counting extends WorkerHost {
  @WithMutex('till')
  async process({ data }: Job<number, number>): Promise<number> {
    return data + 1;
  }
}

const sharedWithBullMq: Source = {
  parts: () => ({
    imports: [
      ConnectionModule,
      BullModule.forRootAsync({
        inject: [CONNECTION],
        useFactory: (connection: Redis) => ({ connection }),
      }),
      BullModule.registerQueue({ name: 'coins' }),
      LockModule.forRootAsync({
        inject: [CONNECTION],
        useFactory: (client: Redis) => ({ backend: 'redis', client }),
      }),
    ],
    providers: [Counting],
  }),
  use: async (app) => {
    const queue = app.get<Queue<number, number>>(getQueueToken('coins'));
    const { id } = await queue.add('count', 3, { removeOnComplete: false });
    await eventually('it is done', async () => (await queue.getJob(id!))?.returnvalue === 4);
    await queue.obliterate({ force: true });
  },
};

/** What is on the server of locks that are not free. */
async function left(): Promise<string[]> {
  const keys = (await server().command('KEYS', '*till*')) as string[];
  return keys.filter((key) => !KEPT.test(key));
}

describe.each<[string, Source]>([
  ["Nest's cache (Keyv)", ofCache],
  ['a provider that BullMQ uses, too,', sharedWithBullMq],
])('Locks by the client of %s', (_, { parts, use }) => {
  afterEach(() => server().command('FLUSHALL'));

  it('exclude others, and leave nothing when the app ends', async () => {
    const before = openHandles();
    const app = await apps.boot({ ...parts(), clients: [] });
    const locks = clientOf(app);
    await use(app);
    const lease = await locks.mutex('till').acquire();
    expect(await server().command('EXISTS', 'till')).toBe(1);
    expect(await locks.mutex('till').tryAcquire()).toBeUndefined();
    await app.close();
    expect(lease.isHeld).toBe(false);
    expect(await left()).toEqual([]);
    await noMoreHandlesThan(before);
  });
});

describe('Locks by the client of @nestjs-modules/ioredis', () => {
  it('exclude others, and leave nothing when the app ends', async () => {
    const url = new URL('./programs/nest-modules-ioredis.ts', import.meta.url);
    const program = new Program(url, [server().url]);
    try {
      expect(await program.next()).toBe('held');
      expect(await server().command('EXISTS', 'till')).toBe(1);
      program.tell('close');
      expect(await program.next()).toBe('released');
      expect(await program.exited).toEqual({ code: 0, signal: null, errors: '' });
      expect(await left()).toEqual([]);
    } finally {
      await program.stop();
    }
  });
});
