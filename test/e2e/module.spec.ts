import { describe, expect, it } from '@jest/globals';
import {
  Catch,
  Controller,
  Get,
  Injectable,
  Module,
  Scope,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
  type CallHandler,
  type CanActivate,
  type ExceptionFilter,
  type MiddlewareConsumer,
  type NestInterceptor,
  type NestMiddleware,
  type NestModule,
  type PipeTransform,
} from '@nestjs/common';
import { ConfigModule, ConfigService } from '@nestjs/config';
import { REQUEST } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { lastValueFrom, of, type Observable } from 'rxjs';
import {
  currentLease,
  InjectLockClient,
  LEADER_ELECTIONS,
  LeaderElections,
  LOCK_CLIENTS,
  LOCK_INTERCEPTOR,
  LOCK_PLANS,
  LockClientDuplicateError,
  LockClients,
  LockClientUnknownError,
  LockDefaults,
  LockInterceptorMissingError,
  LockModule,
  LockOptionsError,
  LockStream,
  LockTimeoutError,
  WithMultiLock,
  WithMutex,
  type LockBackendOptions,
  type LockClient,
  type LockModuleAsyncOptions,
  type LockOptionsFactory,
} from '../../lib/index.js';
import { Deferred } from '../support/time.js';
import { LockTesting, LockTestingModule } from '../../lib/testing/index.js';
import {
  clientOf,
  contention,
  Embedded,
  errorOf,
  RecordingLogger,
  Room,
  useApp,
  useApps,
  type AppParts,
} from './support/apps.js';

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

/** A guard, a pipe, an interceptor and a filter. */
@Catch()
class ArchiveOnRoutes
  extends Archive
  implements CanActivate, PipeTransform, NestInterceptor, ExceptionFilter
{
  canActivate(): boolean {
    return true;
  }
  transform(value: unknown): unknown {
    return value;
  }
  intercept(_: unknown, { handle }: CallHandler): Observable<unknown> {
    return handle();
  }
  catch(): void {}
}

class EmbeddedOptions implements LockOptionsFactory {
  createLockOptions(): LockBackendOptions {
    return { backend: 'embedded', basePath: '/by-class', literalPaths: true };
  }
}

@Module({ providers: [EmbeddedOptions], exports: [EmbeddedOptions] })
class OptionsModule {}

@Injectable({ scope: Scope.TRANSIENT })
class TransientOptions extends EmbeddedOptions {}

@Injectable({ scope: Scope.REQUEST })
class Tenant {}

@Injectable({ scope: Scope.REQUEST, durable: true })
class DurableTenant {}

@Injectable()
class TenantUrl {
  constructor(readonly tenant: Tenant) {}
}

@Injectable()
class OptionsOfTenant extends EmbeddedOptions {
  constructor(readonly tenant: Tenant) {
    super();
  }
}

const ofTenants = [Tenant, DurableTenant, TenantUrl, OptionsOfTenant];

@Module({ providers: ofTenants, exports: ofTenants })
class TenantModule {}

const useFactory = (): LockBackendOptions => ({});

const apps = useApps();

describe('LockModule', () => {
  it('without options is embedded, and says what that means', async () => {
    const logger = new RecordingLogger();
    await apps.boot({ providers: [Orders], logger });
    expect(logger.lines).toEqual([
      expect.stringMatching(/^log: Lock client "default": CONNECTED \(session 0x.+\)$/),
      'log: Lock client "default" is embedded: its locks exclude only callers in this process, and in this thread of it. For several, choose another backend.',
      'debug: Mapped {Orders.pay, mutex, default}',
    ]);
  });

  it('injects the client wherever a provider asks for it', async () => {
    const app = await apps.boot({ providers: [Orders] });
    expect(app.get(Orders).client).toBe(clientOf(app));
    expect(app.get(LockClients).get()).toBe(clientOf(app));
  });

  const byConfiguration = LockModule.forRootAsync({
    imports: [
      ConfigModule.forRoot({
        load: [() => ({ locks: { backend: 'embedded', basePath: '/shop', literalPaths: true } })],
      }),
    ],
    inject: [ConfigService],
    useFactory: (config: ConfigService) => config.getOrThrow<LockBackendOptions>('locks'),
  });
  it.each([
    ['the configuration', byConfiguration, '/shop/orders'],
    [
      'a provider (useClass)',
      LockModule.forRootAsync({ useClass: EmbeddedOptions }),
      '/by-class/orders',
    ],
    [
      'a provider (useExisting)',
      LockModule.forRootAsync({ imports: [OptionsModule], useExisting: EmbeddedOptions }),
      '/by-class/orders',
    ],
    [
      'a transient provider',
      LockModule.forRootAsync({ useClass: TransientOptions }),
      '/by-class/orders',
    ],
  ])('takes options from %s', async (_, module, path) => {
    const app = await apps.boot({ clients: [], imports: [module], providers: [Orders] });
    expect(await apps.held(clientOf(app), path, () => app.get(Orders).pay())).toBe('paid');
  });

  it.each<[string, LockModuleAsyncOptions, maker: string]>([
    ['injected', { inject: [Tenant], useFactory }, 'Tenant'],
    ['injected by what is injected', { inject: [TenantUrl], useFactory }, 'TenantUrl'],
    ['durable', { inject: [DurableTenant], useFactory }, 'DurableTenant'],
    ['the request itself', { inject: [REQUEST], useFactory }, 'REQUEST'],
    ['a class of options', { useClass: OptionsOfTenant }, 'OptionsOfTenant'],
    ['an existing provider of options', { useExisting: OptionsOfTenant }, 'OptionsOfTenant'],
  ])('refuses to boot with options of a request: %s', async (_, options, maker) => {
    const logger = new RecordingLogger();
    const error = await apps.bootError({
      clients: [],
      imports: [LockModule.forRootAsync({ ...options, imports: [TenantModule] })],
      providers: [Orders],
      logger,
    });
    expect(error).toBeInstanceOf(LockOptionsError);
    expect(error).toMatchObject({ option: 'useFactory', client: 'default' });
    expect(error.message).toBe(
      `Option \`useFactory\` is made of ${maker}, which is request-scoped by itself or by what it injects. Give it, \`useClass\` or \`useExisting\` singletons only: else each request would open a lock client "default" of its own.`,
    );
    expect(logger.lines).toEqual([]); // nothing was opened
  });

  it('keeps several clients apart by name', async () => {
    const app = await apps.boot({
      imports: [
        LockModule.forRootAsync({ name: 'archive', useFactory: () => ({ backend: 'embedded' }) }),
      ],
      providers: [Orders, Archive],
    });
    expect(app.get(LockClients).names.sort()).toEqual(['archive', 'default']);

    const other = await clientOf(app).mutex('orders').acquire();
    const call = () => app.get(Archive).store();
    expect(await apps.held(clientOf(app, 'archive'), 'orders', call)).toBe('stored');
    await other.release();
  });

  it.each([
    ['default', [LockModule.forRoot(), LockModule.forRoot()]],
    [
      'archive',
      [
        LockModule.forRoot({ name: 'archive' }),
        LockModule.forRootAsync({ name: 'archive', useFactory: () => ({ backend: 'embedded' }) }),
      ],
    ],
  ])('refuses two clients called "%s", and says what to do', async (name, imports) => {
    const error = await apps.bootError({ clients: [], imports });
    expect(error).toBeInstanceOf(LockClientDuplicateError);
    expect(error).toMatchObject({
      code: 'LOCK_CLIENT_DUPLICATE',
      name: 'LockClientDuplicateError',
      client: name,
    });
    expect(error.message).toBe(
      `Two lock clients are called "${name}". LockModule is global: import it once per client, and name each additional client: LockModule.forRoot({ name: 'other' }), injected with @InjectLockClient('other').`,
    );
  });

  it.each<[string, AppParts]>([
    ['a service', { providers: [Archive] }],
    ['a controller', { controllers: [ArchiveController] }],
    ['a value', { providers: [{ provide: 'archive', useValue: new Archive(new Room()) }] }],
  ])('refuses to boot with %s that asks for an unknown client', async (_, parts) => {
    const error = await apps.bootError(parts);
    expect(error).toBeInstanceOf(LockClientUnknownError);
    expect(error).toMatchObject({
      code: 'LOCK_CLIENT_UNKNOWN',
      name: 'LockClientUnknownError',
      client: 'archive',
    });
    expect(error.message).toBe(
      'There is no lock client "archive", which Archive.store asks for; registered: "default". Register it with LockModule.forRoot({ name: \'archive\' }), or name one of those.',
    );
  });

  it.each<[string, MethodDecorator]>([
    ['a guard', UseGuards(ArchiveOnRoutes)],
    ['a pipe', UsePipes(ArchiveOnRoutes)],
    ['an interceptor', UseInterceptors(ArchiveOnRoutes)],
    ['an exception filter', UseFilters(ArchiveOnRoutes)],
  ])('refuses to boot with %s of a route that asks for an unknown client', async (_, named) => {
    @Controller()
    class Reports {
      @Get()
      @named
      list(): void {}
    }
    const error = await apps.bootError({ controllers: [Reports] });
    expect(error).toBeInstanceOf(LockClientUnknownError);
    expect(error.message).toContain('which Archive.store asks for');
  });

  it.each([
    ['', Scope.DEFAULT],
    ['request-scoped ', Scope.REQUEST],
  ])('refuses to boot with %smiddleware that asks for an unknown client', async (_, scope) => {
    @Injectable({ scope })
    class Logs extends Archive implements NestMiddleware {
      use(_request: unknown, _response: unknown, next: () => void): void {
        next();
      }
    }
    @Module({ providers: [Room] })
    class Logged implements NestModule {
      configure(consumer: MiddlewareConsumer): void {
        consumer.apply(Logs).forRoutes('*path');
      }
    }
    const error = await apps.bootError({ imports: [Logged] });
    expect(error).toBeInstanceOf(LockClientUnknownError);
    expect(error.message).toContain('which Archive.store asks for');
  });

  it.each([
    ['request-scoped', Scope.REQUEST],
    ['transient', Scope.TRANSIENT],
  ])('refuses to boot with a %s service that asks for an unknown client', async (_, scope) => {
    @Injectable({ scope })
    class Scoped extends Archive {}

    expect(await apps.bootError({ providers: [Scoped] })).toBeInstanceOf(LockClientUnknownError);
  });

  it('refuses to boot when the backend cannot take a literal key', async () => {
    class Broken {
      @WithMutex('/orders/')
      async run(): Promise<void> {}
    }
    const error = await apps.bootError({
      clients: [{ literalPaths: true }],
      providers: [Broken],
    });
    expect(error).toMatchObject({ code: 'LOCK_KEY', key: '/orders/' });
    expect(error.message).toContain('(it is the key of Broken.run)');
  });

  it('has a registry that throws on an unknown name', async () => {
    const app = await apps.boot({ clients: [{ name: 'archive' }] });
    expect(() => app.get(LockClients).get()).toThrow(
      'There is no lock client "default"; registered: "archive".',
    );
  });

  it('gives its services under symbols too, which every copy of this package knows', async () => {
    const app = await apps.boot({});
    expect(app.get(LOCK_CLIENTS)).toBe(app.get(LockClients));
    expect(app.get(LEADER_ELECTIONS)).toBe(app.get(LeaderElections));
    expect(LOCK_CLIENTS).toBe(Symbol.for(LOCK_CLIENTS.description!));
  });

  it('refuses to boot beside the LockModule of another copy of this package', async () => {
    @Module({ providers: [{ provide: LOCK_CLIENTS, useValue: 'of the other copy' }] })
    class OtherLockModule {}
    const error = await apps.bootError({ imports: [OtherLockModule] });
    expect(error).toBeInstanceOf(LockClientDuplicateError);
    expect(error.message).toContain('has LockModule from two copies of nestjs-interlock');
  });

  it('cannot be imported without forRoot', async () => {
    const { message } = await apps.bootError({ clients: [], imports: [LockModule] });
    expect(message).toContain(
      'import LockModule.forRoot() once in the root module; LockModule itself cannot be imported',
    );
  });

  it('serves two apps of one process, each by its own providers', async () => {
    const one = await apps.boot({ providers: [Orders] });
    const room = new Room();
    const other = { provide: Room, useValue: room };
    const two = await apps.boot({ providers: [Orders, other] });
    const paying = one.get(Orders).pay();
    await apps.room.entered.promise;
    const contended = contention(clientOf(two));
    const waiting = two.get(Orders).pay();
    await contended;
    apps.room.open();
    await paying;
    await room.entered.promise;
    room.open();
    expect(await waiting).toBe('paid');

    await apps.close(one);
    expect(await two.get(Orders).pay()).toBe('paid');
  });
});

describe('A locked method', () => {
  it('uses the client that a test puts in its place', async () => {
    const { client } = new Embedded();
    await client.connect();
    const app = await apps.boot({ providers: [Orders], client });
    expect(app.get(Orders).client).toBe(client);
    await apps.held(client, 'orders', () => app.get(Orders).pay());

    await apps.close(app);
    await (await client.mutex('orders').acquire()).release(); // it is not ours to close
    await client.close();
  });

  it.each<[string, AppParts]>([
    ['provider', { providers: [Archive] }],
    ['controller', { controllers: [ArchiveController] }],
  ])('of a %s does not let an app compile without LockModule', async (kind, parts) => {
    const name = kind === 'provider' ? 'Archive' : 'ArchiveController';
    const error = await apps.bootError({ clients: [], ...parts });
    expect(error.message).toContain(
      `Nest can't resolve dependencies of the ${name}. Please make sure that the "Symbol(nestjs-interlock:interceptor (is LockModule.forRoot() imported?))" property is available in the current context.`,
    );
  });

  it('can do without LockModule where a test provides the interceptor', async () => {
    const around = (_plan: unknown, _args: unknown, proceed: () => unknown) => proceed();
    const app = await apps.boot({
      clients: [],
      providers: [Archive, { provide: LOCK_INTERCEPTOR, useValue: { around } }],
    });
    apps.room.open();
    expect(await app.get(Archive).store()).toBe('stored');
  });

  it('is not run where a test has put a mock without methods in the place of its interceptor', async () => {
    const mocked = await Test.createTestingModule({ providers: [Archive] })
      .useMocker((token) => (token === Room ? apps.room : {}))
      .compile();
    const error = await errorOf(mocked.get(Archive).store());
    expect(error).toBeInstanceOf(LockInterceptorMissingError);
    expect(error.message).toContain('Add `withoutLocks` to the providers of the test');
  });

  const made = new Archive(new Room());
  const unknown =
    'its instance has no LockInterceptor to take the lock. Let Nest create the instance, in an app or TestingModule that imports LockModule, and call the method on it.';
  const without = 'it was called without its instance';
  it.each<[string, AppParts, () => Promise<unknown>, why?: string]>([
    ['on an instance that Nest did not make', {}, () => new Archive(new Room()).store()],
    [
      'on an instance that Nest did not make, and that is a provider without LockModule',
      { clients: [], providers: [{ provide: 'archive', useValue: made }] },
      () => made.store(),
    ],
    ['without its instance', {}, () => Archive.prototype.store.call(undefined as never), without],
    ['on the prototype', {}, () => Archive.prototype.store()],
  ])('is not run %s', async (_, parts, call, why = unknown) => {
    await apps.boot(parts);
    const error = await errorOf(call());
    expect(error).toBeInstanceOf(LockInterceptorMissingError);
    expect(error).toMatchObject({ code: 'LOCK_INTERCEPTOR_MISSING', method: 'Archive.store' });
    expect(error.message).toContain(`Archive.store was not run: ${why}`);
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
      return { backend: 'embedded' } as const;
    };
    await apps.boot({
      clients: [],
      imports: [LockModule.forRootAsync({ name: 'archive', useFactory })],
      providers: [Archive, caller],
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

const WAIT = 1_000;

@LockDefaults({
  client: 'orders',
  wait: WAIT,
  onBusy: (error, id) => `${String(id)}: ${error.code}`,
})
class Records {
  @WithMutex('record:{0}')
  async open(id: string): Promise<string> {
    return `${id} is open`;
  }

  @WithMutex('record:{0}', { client: 'default' })
  async openElsewhere(id: string): Promise<string> {
    return `${id} is open`;
  }

  @WithMultiLock(['record:{0}', { key: 'ledger', client: 'default' }])
  async close(id: string): Promise<string> {
    return `${id} is closed`;
  }

  @LockStream('record:{0}')
  follow(id: string): Observable<string> {
    return of(`${id} is new`);
  }
}

@Injectable()
class BookOfOrders extends Records {
  @WithMutex('record:{0}', { onBusy: 'throw' })
  async pay(id: string): Promise<string> {
    return `${id} is paid`;
  }
}

@Injectable()
@LockDefaults({ client: 'default', onBusy: 'throw' })
class Bills extends Records {}

@Injectable({ scope: Scope.TRANSIENT })
@LockDefaults({ client: 'orders', onLost: 'ignore' })
class Notes {
  @WithMutex('note', { client: undefined })
  async write(): Promise<string> {
    await currentLease()!.release();
    return 'written';
  }
}

describe('@LockDefaults', () => {
  const app = useApp(() => ({
    clients: [],
    imports: [LockTestingModule.forRoot(), LockTestingModule.forRoot({ name: 'orders' })],
    providers: [BookOfOrders, Bills, Notes],
  }));
  const orders = () => app.get(BookOfOrders);
  const take = (name: string, key: string) => clientOf(app.nest, name).mutex(key).acquire();
  /** What a call gives, or is rejected with, that has to wait until its time is up. */
  const inVain = async <T>(call: Promise<T>) => {
    const outcome = call.catch((error: unknown) => error);
    await app.get(LockTesting).advance(WAIT);
    return outcome;
  };

  it('says what the decorators of the class leave out', async () => {
    await take('orders', 'record:7');
    expect(await inVain(orders().open('7'))).toBe('7: LOCK_TIMEOUT');
    expect(await inVain(orders().close('7'))).toBe('7: LOCK_TIMEOUT');
    expect(await inVain(lastValueFrom(orders().follow('7')))).toBe('7: LOCK_TIMEOUT');
    expect(await orders().open('8')).toBe('8 is open');
    expect(await lastValueFrom(orders().follow('8'))).toBe('8 is new');
  });

  it('is overruled by the decorators', async () => {
    await take('orders', 'record:7');
    expect(await orders().openElsewhere('7')).toBe('7 is open');
    await take('default', 'record:7');
    expect(await inVain(orders().openElsewhere('7'))).toBe('7: LOCK_TIMEOUT');
  });

  it('is overruled by single members of several locks', async () => {
    await take('default', 'ledger');
    expect(await inVain(orders().close('7'))).toBe('7: LOCK_TIMEOUT');
  });

  it('holds for the methods of a subclass too', async () => {
    await take('orders', 'record:7');
    const error = await inVain(orders().pay('7'));
    expect(error).toBeInstanceOf(LockTimeoutError);
    expect(error).toMatchObject({ client: 'orders', waitedMs: WAIT });
  });

  it('is overruled by that of a subclass, option by option, for what that inherits', async () => {
    const bills = app.get(Bills);
    await take('orders', 'record:7');
    expect(await bills.open('7')).toBe('7 is open');
    await take('default', 'record:7');
    const error = await inVain(bills.open('7'));
    expect(error).toMatchObject({ code: 'LOCK_TIMEOUT', client: 'default', waitedMs: WAIT });
    expect(await orders().openElsewhere('8')).toBe('8 is open'); // the class above is as it was
  });

  it('holds for an option that is given as undefined, and for transient providers', async () => {
    const notes = await app.nest.resolve(Notes);
    expect(await notes.write()).toBe('written');
    await take('orders', 'note');
    const contended = contention(clientOf(app.nest, 'orders'));
    const refusal = { code: 'LOCK_CLIENT_CLOSED', client: 'orders' };
    const refused = expect(notes.write()).rejects.toMatchObject(refusal);
    await contended;
    await app.close();
    await refused;
  });

  it('keeps an app from starting when its client is unknown', async () => {
    @Injectable()
    @LockDefaults({ client: 'archive' })
    class Lost extends Records {}

    const error = await apps.bootError({ clients: [{}, { name: 'orders' }], providers: [Lost] });
    expect(error).toMatchObject({ code: 'LOCK_CLIENT_UNKNOWN' });
  });

  it('keeps an app from starting when an inherited option does not go with one of a method', async () => {
    @LockDefaults({ wait: 'forever' })
    class Patient {}

    @Injectable()
    class Hasty extends Patient {
      @WithMutex('hasty', { onBusy: 'skip' })
      async run(): Promise<void> {}
    }

    const error = await apps.bootError({ providers: [Hasty] });
    expect(error).toBeInstanceOf(LockOptionsError);
    expect(error).toMatchObject({ option: 'wait', value: 'forever' });
  });
});
