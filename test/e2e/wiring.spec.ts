import { describe, expect, it } from '@jest/globals';
import { Global, Injectable, Module, Scope, type DynamicModule, type Type } from '@nestjs/common';
import { LazyModuleLoader } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createLockClient } from '../../lib/clients/lock-client.factory.js';
import {
  LockClientClosedError,
  LockClients,
  LockClientUnknownError,
  LockInterceptorMissingError,
  LockModule,
  type LockModuleOptions,
  OnLeadership,
  ReadLock,
  WithMutex,
} from '../../lib/index.js';
import { LOCK_CLIENT_FACTORY } from '../../lib/lock.constants.js';
import { Deferred, eventually } from '../support/time.js';
import { clientOf, errorOf, RecordingLogger, Room, useApps } from './support/apps.js';

@Injectable()
class Orders {
  constructor(readonly room: Room) {}

  @WithMutex('order')
  async pay(): Promise<string> {
    return this.room.stay('paid');
  }
}

@Injectable()
class Sealed extends Orders {
  constructor(room: Room) {
    super(room);
    Object.seal(this);
  }
}

@Injectable()
class Frozen extends Orders {
  constructor(room: Room) {
    super(room);
    Object.freeze(this);
  }
}

const apps = useApps();

describe('An instance that is frozen', () => {
  it.each<[string, (room: Room) => Orders]>([
    ['from outside', (room) => Object.freeze(new Orders(room))],
    ['by its class', (room) => new Frozen(room)],
    ['or sealed', (room) => new Sealed(room)],
  ])('%s is locked as a value', async (_, make) => {
    const app = await apps.boot({ providers: [{ provide: Orders, useValue: make(apps.room) }] });
    const orders = app.get(Orders);
    expect(await apps.held(clientOf(app), 'order', () => orders.pay())).toBe('paid');
    expect(Object.keys(orders)).toEqual(['room']);
  });

  it.each<[string, Type<Orders>]>([
    ['frozen', Frozen],
    ['sealed', Sealed],
  ])('by its class is locked as a class that Nest constructs: %s', async (_, type) => {
    const app = await apps.boot({ providers: [type] });
    expect(await apps.held(clientOf(app), 'order', () => app.get(type).pay())).toBe('paid');
  });
});

describe('One value in two apps', () => {
  it.each([
    ['the first', 0],
    ['the last', 1],
  ])('is served by the other when %s closes', async (_, closed) => {
    const orders = new Orders(apps.room);
    const parts = { providers: [{ provide: Orders, useValue: orders }] };
    const both = [
      await apps.boot({ ...parts, clients: [{}] }),
      await apps.boot({ ...parts, clients: [{}] }),
    ];
    await apps.close(both[closed]);
    const rest = both[1 - closed]!;
    expect(await apps.held(clientOf(rest), 'order', () => orders.pay())).toBe('paid');
  });
});

describe('A module that is loaded lazily', () => {
  const load = async (module: Type) => {
    const app = await apps.boot({});
    return { app, loaded: await app.get(LazyModuleLoader).load(() => module) };
  };

  it.each(['a value', 'a factory', 'a class'])('has its %s locked', async (kind) => {
    const { room } = apps;
    const sources = {
      'a value': { provide: Orders, useValue: new Orders(room) },
      'a factory': { provide: Orders, useFactory: () => new Orders(room) },
      'a class': { provide: Orders, useClass: Orders },
    };
    @Module({
      providers: [sources[kind as keyof typeof sources], { provide: Room, useValue: room }],
    })
    class LazyModule {}

    const { app, loaded } = await load(LazyModule);
    const orders = loaded.get(Orders);
    expect(await apps.held(clientOf(app), 'order', () => orders.pay())).toBe('paid');
  });

  it('has a value locked that comes after one was loaded that imports it', async () => {
    const [started, released] = [new Deferred(), new Deferred()];
    const useFactory = async () => {
      started.resolve();
      await released.promise;
      return new Orders(apps.room);
    };
    @Module({ providers: [{ provide: Orders, useFactory }] })
    class SlowModule {}
    @Module({ imports: [SlowModule] })
    class FastModule {}

    const app = await apps.boot({});
    const loader = app.get(LazyModuleLoader);
    const loading = loader.load(() => SlowModule);
    await started.promise;
    await nextTurn(); // all is built that does not wait
    const loadingBoth = loader.load(() => FastModule);
    await nextTurn();
    released.resolve();
    await loadingBoth;
    const orders = (await loading).get(Orders);
    expect(await apps.held(clientOf(app), 'order', () => orders.pay())).toBe('paid');
  });

  it('has a value locked by its next load, if the first one began before ours was constructed', async () => {
    const released = new Deferred();
    const useFactory = async () => {
      await released.promise;
      return new Orders(apps.room);
    };
    @Module({ providers: [{ provide: Orders, useFactory }] })
    class LazyModule {}
    @Injectable()
    class Impatient {
      readonly isFirst: boolean;
      readonly loading: Promise<unknown>;

      constructor(loader: LazyModuleLoader) {
        this.isFirst = !Object.hasOwn(loader, 'load');
        this.loading = loader.load(() => LazyModule);
      }
    }

    const app = await apps.boot({ providers: [Impatient] });
    released.resolve();
    await app.get(Impatient).loading;
    expect(app.get(Impatient).isFirst).toBe(true);
    const orders = (await app.get(LazyModuleLoader).load(() => LazyModule)).get(Orders);
    expect(await apps.held(clientOf(app), 'order', () => orders.pay())).toBe('paid');
  });

  it('is refused where a plan cannot be carried out', async () => {
    class Elsewhere {
      @WithMutex('order', { client: 'missing' })
      async pay(): Promise<void> {}
    }
    @Module({ providers: [{ provide: Elsewhere, useValue: new Elsewhere() }] })
    class LazyModule {}

    await expect(load(LazyModule)).rejects.toMatchObject({ code: 'LOCK_CLIENT_UNKNOWN' });
  });

  describe('and is refused', () => {
    @Injectable()
    class Bad {
      static readonly led: string[] = [];
      static readonly made: Bad[] = [];

      constructor() {
        Bad.made.push(this);
      }

      @OnLeadership('mailer')
      lead() {
        Bad.led.push('Bad');
      }

      @WithMutex('order', { client: 'missing' })
      async pay(): Promise<void> {
        Bad.led.push('paid');
      }
    }
    const value = new Bad();
    @Module({ providers: [Bad, { provide: 'value', useValue: value }], exports: [Bad] })
    class BadModule {}
    @Module({ imports: [BadModule] })
    class DependentModule {}
    @Injectable()
    class Good extends Orders {
      @OnLeadership('mailer')
      lead() {
        Bad.led.push('Good');
      }
    }

    it('stays so, as do those that import it, and runs nothing; others are loaded', async () => {
      const app = await apps.boot({});
      const loader = app.get(LazyModuleLoader);
      const good = new Good(apps.room);
      @Module({ providers: [{ provide: Good, useValue: good }] })
      class GoodModule {}

      for (const module of [BadModule, BadModule, DependentModule, BadModule])
        await expect(loader.load(() => module)).rejects.toMatchObject({
          code: 'LOCK_CLIENT_UNKNOWN',
        });
      await loader.load(() => GoodModule);
      await eventually('the good one leads', () => Bad.led.includes('Good'));
      expect(await apps.held(clientOf(app), 'order', () => good.pay())).toBe('paid');

      const bad = Bad.made.at(-1)!;
      expect(bad).not.toBe(value);
      expect(await errorOf(bad.pay())).toMatchObject({ code: 'LOCK_CLIENT_UNKNOWN' });
      expect(await errorOf(value.pay())).toBeInstanceOf(LockInterceptorMissingError);
      expect(Bad.led).toEqual(['Good']);
    });

    it('is accepted as soon as its plans can be carried out', async () => {
      const app = await apps.boot({});
      const loader = app.get(LazyModuleLoader);
      await expect(loader.load(() => BadModule)).rejects.toBeInstanceOf(LockClientUnknownError);
      const client = LockModule.forRoot({ name: 'missing' });
      await loader.load(() => client);
      const bad = (await loader.load(() => BadModule)).get(Bad);
      Bad.led.length = 0;
      await bad.pay();
      await value.pay();
      expect(Bad.led.filter((each) => each === 'paid')).toHaveLength(2);
    });
  });

  it.each<[string, DynamicModule]>([
    ['a second default client', LockModule.forRoot()],
    ['unknown options', LockModule.forRoot({ name: 'lazy', nope: 1 } as never)],
    [
      'a server that is not there',
      LockModule.forRoot({
        name: 'lazy',
        backend: 'redis',
        connect: 'redis://127.0.0.1:1',
        connectTimeout: 100,
      }),
    ],
    [
      'a factory that fails',
      LockModule.forRootAsync({ name: 'lazy', useFactory: () => Promise.reject(new Error('no')) }),
    ],
  ])('and fails, for %s, leaves the locks of the app alone', async (_, locks) => {
    @Module({ imports: [locks] })
    class LazyModule {}
    @Module({ imports: [LockModule.forRoot({ name: 'lazy' })] })
    class AnotherModule {}

    const { room } = apps;
    const app = await apps.boot({ providers: [Orders, { provide: Room, useValue: room }] });
    const loader = app.get(LazyModuleLoader);
    const orders = app.get(Orders);
    const paid = await apps.held(clientOf(app), 'order', async () => {
      const paying = orders.pay();
      await expect(loader.load(() => LazyModule)).rejects.toThrow();
      return paying;
    });
    expect(paid).toBe('paid');
    expect(app.get(LockClients).names).toEqual(['default']);
    await loader.load(() => AnotherModule);
    expect(app.get(LockClients).names).toEqual(['default', 'lazy']);
  });

  it('and fails, leaves no lock client behind', async () => {
    const steps: string[] = [];
    const createClient = async (name: string, options: LockModuleOptions) => {
      const client = await createLockClient(name, options);
      if (name === 'default') return client;
      const close = client.close.bind(client);
      return Object.assign(client, {
        connect: () => Promise.reject(new Error('no server')),
        close: () => {
          steps.push('closed');
          return close();
        },
        drain: async () => void steps.push('drained'),
      });
    };
    const factory = { provide: LOCK_CLIENT_FACTORY, useValue: createClient };
    @Global()
    @Module({ providers: [factory], exports: [LOCK_CLIENT_FACTORY] })
    class FactoryModule {}
    @Module({ imports: [LockModule.forRoot({ name: 'lazy' })] })
    class LazyModule {}

    const app = await apps.boot({ imports: [FactoryModule] });
    const load = app.get(LazyModuleLoader).load(() => LazyModule);
    await expect(load).rejects.toThrow('no server');
    expect(steps).toEqual(['closed']);
    await apps.close(app);
    expect(steps).toEqual(['closed']);
  });

  it('after its app was closed gets no lock client', async () => {
    @Module({ imports: [LockModule.forRoot({ name: 'lazy' })] })
    class LazyModule {}

    const app = await apps.boot({});
    await apps.close(app);
    const error = await errorOf(app.get(LazyModuleLoader).load(() => LazyModule));
    expect(error).toBeInstanceOf(LockClientClosedError);
  });

  it('is looked at once', async () => {
    let looks = 0;
    const getPrototypeOf = (target: object) => {
      looks += 1;
      return Reflect.getPrototypeOf(target);
    };
    const valueModule = () => {
      const provider = { provide: 'value', useValue: new Proxy({}, { getPrototypeOf }) };
      @Module({ providers: [provider], exports: [provider] })
      class ValueModule {}
      return ValueModule;
    };
    @Module({ imports: [valueModule()] })
    class LazyModule {}
    const app = await apps.boot({ imports: [valueModule()] });
    const loader = app.get(LazyModuleLoader);
    looks = 0;
    await loader.load(() => LazyModule);
    expect(looks).toBeGreaterThan(0);
    looks = 0;
    await loader.load(() => LazyModule);
    expect(looks).toBe(0);
  });
});

describe('An instance that has no lock', () => {
  it('from a request-scoped factory says what to do', async () => {
    const useFactory = (room: Room) => new Orders(room);
    const provider = { provide: Orders, inject: [Room], scope: Scope.REQUEST, useFactory };
    const app = await apps.boot({ providers: [provider] });
    const error = await errorOf((await app.resolve(Orders)).pay());
    expect(error).toBeInstanceOf(LockInterceptorMissingError);
    expect(error.message).toContain(
      'not one that a factory of request or transient scope has made',
    );
  });

  it('from a factory, before its app is initialised, says so', async () => {
    const builder = Test.createTestingModule({
      imports: [LockModule.forRoot()],
      providers: [{ provide: Orders, useFactory: () => new Orders(apps.room) }],
    });
    const app = await builder.compile();
    const error = await errorOf(app.get(Orders).pay());
    await app.close();
    expect(error).toBeInstanceOf(LockInterceptorMissingError);
    expect(error.message).toContain('from `app.init()` on, a value of a factory');
  });

  it('as the method was taken from it, says so', async () => {
    const app = await apps.boot({ providers: [Orders] });
    const { pay } = app.get(Orders);
    const error = await errorOf(pay.call(undefined as never));
    expect(error).toBeInstanceOf(LockInterceptorMissingError);
    expect(error.message).toContain('it was called without its instance');
  });
});

describe('A method that overrides a locked one', () => {
  class Base {
    @WithMutex('a')
    async bare(): Promise<void> {}
    @ReadLock('b')
    async calling(): Promise<void> {}
    @WithMutex('c')
    async locked(): Promise<void> {}
    @WithMutex('d')
    async inherited(): Promise<void> {}
  }

  class Derived extends Base {
    override async bare(): Promise<void> {}
    override async calling(): Promise<void> {
      await super.calling();
    }
    @WithMutex('c')
    override async locked(): Promise<void> {}
  }

  class Calling extends Derived {
    override async bare(): Promise<void> {
      await super.bare();
    }
    override async calling(): Promise<void> {
      await super.calling();
    }
    override async locked(): Promise<void> {
      await super.locked();
    }
    override async inherited(): Promise<void> {
      await super.inherited();
    }
  }

  class Covered extends Derived {
    @WithMutex('e')
    override async bare(): Promise<void> {
      await super.bare();
    }
  }

  it('without a lock is warned of at boot where a class below calls it, and has no lock', async () => {
    const logger = new RecordingLogger();
    await apps.boot({ providers: [Calling, Covered], logger });
    expect(logger.lines.filter((line) => line.includes('overrides'))).toEqual([
      'warn: Derived.bare runs without a lock: it overrides Base.bare, which has @WithMutex. Repeat the decorator on it, or call super.bare().',
    ]);
  });

  /** What a decorator does that wraps a method and copies no metadata. */
  const Wrapped: MethodDecorator = (_, __, descriptor) => {
    const method = descriptor.value as (...args: unknown[]) => unknown;
    const wrapper = function (this: unknown, ...args: unknown[]) {
      return method.apply(this, args);
    };
    return { ...descriptor, value: wrapper as never };
  };

  class Heir extends Derived {}

  class Locked extends Base {
    @Wrapped
    @WithMutex('a')
    override async bare(): Promise<void> {}
  }

  class Borrowing extends Base {}
  const borrowed = Object.getOwnPropertyDescriptor(Base.prototype, 'locked')!;
  Object.defineProperty(Borrowing.prototype, 'calling', borrowed);

  it.each<[string, Type, string[]]>([
    ['is warned of where a class without one of its own inherits it', Heir, ['Derived.bare']],
    ['is none where another decorator is above the lock', Locked, []],
    ['is none where the method has a lock from elsewhere', Borrowing, []],
  ])('without a lock %s', async (_, provider, overrides) => {
    const logger = new RecordingLogger();
    await apps.boot({ providers: [provider], logger });
    const warned = logger.lines.flatMap((line) => /warn: (\S+) runs without/.exec(line)?.[1] ?? []);
    expect(warned).toEqual(overrides);
  });

  it('without a lock is warned of at boot, once', async () => {
    const logger = new RecordingLogger();
    const providers = [Derived, { provide: 'again', useClass: Derived }, Base];
    await apps.boot({ providers, logger });
    expect(logger.lines.filter((line) => line.includes('overrides'))).toEqual([
      'warn: Derived.bare runs without a lock: it overrides Base.bare, which has @WithMutex. Repeat the decorator on it, or call super.bare().',
    ]);
  });
});
