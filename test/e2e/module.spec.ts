import { afterEach, describe, expect, it } from '@jest/globals';
import { Controller, Injectable, Module, Scope } from '@nestjs/common';
import { ConfigModule, ConfigService } from '@nestjs/config';
import { Test } from '@nestjs/testing';
import { EmbeddedServer } from '../../lib/embedded/embedded-server.js';
import {
  getLockClientToken,
  InjectLockClient,
  LOCK_INTERCEPTOR,
  LOCK_PLANS,
  LockClientDuplicateError,
  LockClientRegistry,
  LockClientUnknownError,
  LockInterceptorMissingError,
  LockModule,
  WithMutex,
  type LockBackendOptions,
  type LockClient,
  type LockOptionsFactory,
} from '../../lib/index.js';
import { Deferred } from '../support/deferred.js';
import { Apps, clientOf } from './support/apps.js';
import { expectHeld } from './support/expect-held.js';
import { RecordingLogger } from './support/recording-logger.js';
import { Room } from './support/room.js';
import { connectTo } from './support/tree-client.js';

@Injectable()
class Orders {
  constructor(
    private readonly room: Room,
    @InjectLockClient() readonly client?: LockClient,
  ) {}

  @WithMutex('orders')
  async pay(): Promise<string> {
    return this.room.stay('paid');
  }
}

@Injectable()
class Archive {
  constructor(private readonly room: Room) {}

  @WithMutex('orders', { client: 'archive' })
  async store(): Promise<string> {
    return this.room.stay('stored');
  }
}

@Controller()
class ArchiveController extends Archive {}

class EmbeddedOptions implements LockOptionsFactory {
  createLockOptions(): LockBackendOptions {
    return { basePath: '/by-class', literalPaths: true };
  }
}

@Module({ providers: [EmbeddedOptions], exports: [EmbeddedOptions] })
class OptionsModule {}

const apps = new Apps();
afterEach(() => apps.close());

const withRoom = (room = new Room()) => ({ provide: Room, useValue: room });
const errorOf = (booting: Promise<unknown>) =>
  booting.then(
    () => undefined,
    (error: unknown) => error as Error,
  );

describe('LockModule', () => {
  it('without options is embedded, and says what that means', async () => {
    const logger = new RecordingLogger();
    await apps.boot(
      { imports: [LockModule.forRoot()], providers: [Orders, withRoom()] },
      (builder) => builder.setLogger(logger),
    );
    expect(logger.lines).toEqual([
      expect.stringMatching(/^log: Lock client "default": CONNECTED \(session 0x.+\)$/),
      'log: Lock client "default" is embedded: its locks exclude only callers in this process. For several processes, choose another backend.',
      'debug: Mapped {Orders.pay, mutex, default}',
    ]);
  });

  it('injects the client wherever a provider asks for it', async () => {
    const app = await apps.boot({
      imports: [LockModule.forRoot()],
      providers: [Orders, withRoom()],
    });
    expect(app.get(Orders).client).toBe(clientOf(app));
    expect(app.get(LockClientRegistry).get()).toBe(clientOf(app));
  });

  it('takes options from the configuration', async () => {
    const room = new Room();
    const app = await apps.boot({
      imports: [
        LockModule.forRootAsync({
          imports: [
            ConfigModule.forRoot({
              load: [() => ({ locks: { basePath: '/shop', literalPaths: true } })],
            }),
          ],
          inject: [ConfigService],
          useFactory: (config: ConfigService) => config.getOrThrow<LockBackendOptions>('locks'),
        }),
      ],
      providers: [Orders, withRoom(room)],
    });
    const call = () => app.get(Orders).pay();
    expect(await expectHeld(clientOf(app), '/shop/orders', room, call)).toBe('paid');
  });

  it.each([
    ['useClass', LockModule.forRootAsync({ useClass: EmbeddedOptions })],
    [
      'useExisting',
      LockModule.forRootAsync({ imports: [OptionsModule], useExisting: EmbeddedOptions }),
    ],
  ])('takes options from a provider (%s)', async (_, module) => {
    const room = new Room();
    const app = await apps.boot({ imports: [module], providers: [Orders, withRoom(room)] });
    await expectHeld(clientOf(app), '/by-class/orders', room, () => app.get(Orders).pay());
  });

  it('keeps several clients apart by name', async () => {
    const room = new Room();
    const app = await apps.boot({
      imports: [
        LockModule.forRoot(),
        LockModule.forRootAsync({ name: 'archive', useFactory: () => ({}) }),
      ],
      providers: [Orders, Archive, withRoom(room)],
    });
    expect(app.get(LockClientRegistry).names.sort()).toEqual(['archive', 'default']);

    const other = await clientOf(app).mutex('orders').acquire();
    const call = () => app.get(Archive).store();
    expect(await expectHeld(clientOf(app, 'archive'), 'orders', room, call)).toBe('stored');
    await other.release();
  });

  it.each([
    ['default', [LockModule.forRoot(), LockModule.forRoot()]],
    [
      'archive',
      [
        LockModule.forRoot({ name: 'archive' }),
        LockModule.forRootAsync({ name: 'archive', useFactory: () => ({}) }),
      ],
    ],
  ])('refuses two clients called "%s", and says what to do', async (name, imports) => {
    const error = await errorOf(apps.boot({ imports }));
    expect(error).toBeInstanceOf(LockClientDuplicateError);
    expect(error).toMatchObject({ code: 'LOCK_CLIENT_DUPLICATE', client: name });
    expect(error?.message).toBe(
      `Two lock clients are called "${name}". LockModule is global: import it once per client, and name each additional client: LockModule.forRoot({ name: 'other' }), injected with @InjectLockClient('other').`,
    );
  });

  it.each([
    ['a service', { providers: [Archive, withRoom()] }],
    ['a controller', { controllers: [ArchiveController], providers: [withRoom()] }],
    ['a value', { providers: [{ provide: 'archive', useValue: new Archive(new Room()) }] }],
  ])('refuses to boot with %s that asks for an unknown client', async (_, metadata) => {
    const error = await errorOf(apps.boot({ imports: [LockModule.forRoot()], ...metadata }));
    expect(error).toBeInstanceOf(LockClientUnknownError);
    expect(error).toMatchObject({ code: 'LOCK_CLIENT_UNKNOWN', client: 'archive' });
    expect(error?.message).toBe(
      'There is no lock client "archive", which Archive.store asks for; registered: "default". Register it with LockModule.forRoot({ name: \'archive\' }), or name one of those.',
    );
  });

  it.each([
    ['request-scoped', Scope.REQUEST],
    ['transient', Scope.TRANSIENT],
  ])('refuses to boot with a %s service that asks for an unknown client', async (_, scope) => {
    @Injectable({ scope })
    class Scoped extends Archive {}

    const booting = apps.boot({ imports: [LockModule.forRoot()], providers: [Scoped, withRoom()] });
    expect(await errorOf(booting)).toBeInstanceOf(LockClientUnknownError);
  });

  it('refuses to boot when the backend cannot take a literal key', async () => {
    class Broken {
      @WithMutex('/orders/')
      async run(): Promise<void> {}
    }
    const error = await errorOf(
      apps.boot({ imports: [LockModule.forRoot({ literalPaths: true })], providers: [Broken] }),
    );
    expect(error).toMatchObject({ code: 'LOCK_KEY', key: '/orders/' });
    expect(error?.message).toContain('(it is the key of Broken.run)');
  });

  it('has a registry that throws on an unknown name', async () => {
    const app = await apps.boot({ imports: [LockModule.forRoot({ name: 'archive' })] });
    expect(() => app.get(LockClientRegistry).get()).toThrow(
      'There is no lock client "default"; registered: "archive".',
    );
  });

  it('cannot be imported without forRoot', async () => {
    const error = await errorOf(apps.boot({ imports: [LockModule] }));
    expect(error?.message).toContain('import LockModule.forRoot() once in the root module');
  });

  it('serves two apps of one process apart', async () => {
    const rooms = [new Room(), new Room()] as const;
    const [one, two] = await Promise.all(
      rooms.map((room) =>
        apps.boot({ imports: [LockModule.forRoot()], providers: [Orders, withRoom(room)] }),
      ),
    );
    const paying = one!.get(Orders).pay();
    await rooms[0].entered.promise;
    await expectHeld(clientOf(two!), 'orders', rooms[1], () => two!.get(Orders).pay());
    rooms[0].open();
    await paying;

    await apps.close(one);
    expect(await two!.get(Orders).pay()).toBe('paid');
  });
});

describe('A locked method', () => {
  it('uses the client that a test puts in its place', async () => {
    const room = new Room();
    const client = await connectTo(new EmbeddedServer());
    const app = await apps.boot(
      { imports: [LockModule.forRoot()], providers: [Orders, withRoom(room)] },
      (builder) => builder.overrideProvider(getLockClientToken()).useValue(client),
    );
    expect(app.get(Orders).client).toBe(client);
    await expectHeld(client, 'orders', room, () => app.get(Orders).pay());

    await apps.close(app);
    await (await client.mutex('orders').acquire()).release(); // it is not ours to close
    await client.close();
  });

  it('does not let an app compile without LockModule', async () => {
    const testing = Test.createTestingModule({ providers: [Archive, withRoom()] });
    const error = await errorOf(testing.compile());
    expect(error?.message).toContain("can't resolve dependencies of the Archive");
    expect(error?.message).toContain('is LockModule.forRoot() imported?');
  });

  it('can do without LockModule where a test provides the interceptor', async () => {
    const room = new Room();
    room.open();
    const around = (_plan: unknown, _args: unknown, proceed: () => unknown) => proceed();
    const testing = await Test.createTestingModule({
      providers: [Archive, withRoom(room), { provide: LOCK_INTERCEPTOR, useValue: { around } }],
    }).compile();
    expect(await testing.get(Archive).store()).toBe('stored');
  });

  it.each<[string, () => Promise<unknown>]>([
    ['on an instance that Nest did not make', () => new Archive(new Room()).store()],
    ['without its instance', () => Archive.prototype.store.call(undefined as never)],
    ['on the prototype', () => Archive.prototype.store()],
  ])('is not run %s', async (_, call) => {
    const error = await errorOf(call());
    expect(error).toBeInstanceOf(LockInterceptorMissingError);
    expect(error).toMatchObject({ code: 'LOCK_INTERCEPTOR_MISSING', method: 'Archive.store' });
    expect(error?.message).toBe(
      'Archive.store was not run: its instance has no LockInterceptor to take the lock. Let Nest create the instance, in an app or TestingModule that imports LockModule, and call the method on it.',
    );
  });

  it('is not run on an instance that cannot take the interceptor', async () => {
    const useValue = Object.freeze(new Archive(new Room()));
    await apps.boot({
      imports: [LockModule.forRoot({ name: 'archive' })],
      providers: [{ provide: 'archive', useValue }],
    });
    expect(await errorOf(useValue.store())).toBeInstanceOf(LockInterceptorMissingError);
  });

  it('is not run while its client is still being connected', async () => {
    const tooEarly = new Deferred<unknown>();
    const caller = {
      provide: 'caller',
      inject: [Archive],
      useFactory: async (archive: Archive) => tooEarly.resolve(await errorOf(archive.store())),
    };
    const useFactory = async () => {
      await tooEarly.promise;
      return {};
    };
    await apps.boot({
      imports: [LockModule.forRootAsync({ name: 'archive', useFactory })],
      providers: [Archive, withRoom(), caller],
    });
    expect(await tooEarly.promise).toMatchObject({
      code: 'LOCK_CONNECTION',
      client: 'archive',
      message:
        'Lock client "archive" was not connected yet when Archive.store was called. Acquire locks from onModuleInit on, or inject the client where it is needed earlier.',
    });
  });

  it('shows its plans to tools', () => {
    expect(Reflect.getMetadata(LOCK_PLANS, Orders.prototype.pay)).toEqual([
      {
        decorator: 'WithMutex',
        method: 'Orders.pay',
        lock: { recipe: 'mutex', key: 'orders' },
        options: {},
      },
    ]);
  });
});
