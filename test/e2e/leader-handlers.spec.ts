import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  Controller,
  Get,
  Inject,
  Injectable,
  Module,
  Scope,
  UseGuards,
  type INestApplication,
  type MiddlewareConsumer,
  type Type,
} from '@nestjs/common';
import { LazyModuleLoader, type ModuleRef, REQUEST } from '@nestjs/core';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  LeaderElections,
  LeaderOnly,
  LockClientUnknownError,
  LockDecoratorTargetError,
  LockDefaults,
  LockKeyError,
  LockLostError,
  OnLeadership,
  OnLeadershipLost,
  WithMutex,
  currentLease,
  type Leadership,
  type Lease,
} from '../../lib/index.js';
import { LockTesting, LockTestingModule } from '../../lib/testing/index.js';
import { Deferred, eventually } from '../support/time.js';
import { clientOf, RecordingLogger, useApps, type AppParts } from './support/apps.js';

const apps = useApps();
let logger: RecordingLogger;
beforeEach(() => void (logger = new RecordingLogger()));

const boot = (parts: AppParts) => apps.boot({ ...parts, logger });
const leading = (app: INestApplication, name = 'mailer', client?: string) =>
  eventually('it leads', () => app.get(LeaderElections).of(name, { client }).isLeader);

@Injectable()
class Mailer {
  readonly log: string[] = [];
  leadership?: Leadership;
  loss?: LockLostError;

  onApplicationBootstrap() {
    this.log.push('up');
  }

  @OnLeadership('mailer')
  begin(leadership: Leadership): void {
    this.leadership = leadership;
    this.log.push('begin');
  }

  @OnLeadership('mailer')
  async watch({ signal, isHeld }: Leadership): Promise<void> {
    this.log.push(`watch, held: ${isHeld}`);
    signal.addEventListener('abort', () => this.log.push('aborted'));
  }

  @OnLeadershipLost('mailer')
  end(loss?: LockLostError): void {
    this.loss = loss;
    this.log.push('end');
  }
}

const LED = ['up', 'begin', 'watch, held: true'];

@Controller()
class MailController extends Mailer {}

@Injectable()
class MailGuard extends Mailer {
  canActivate(): boolean {
    return true;
  }
}

@Controller()
@UseGuards(MailGuard)
class GuardedController {
  @Get()
  list(): void {}
}

describe.each<[string, AppParts, typeof Mailer]>([
  ['provider', { providers: [Mailer] }, Mailer],
  ['controller', { controllers: [MailController] }, MailController],
  ['guard of a route', { controllers: [GuardedController] }, MailGuard],
])('Methods of a %s', (_, parts, Class) => {
  it('are called in their order when the app leads, once it is up, and when it shuts down', async () => {
    const app = await boot(parts);
    const mailer = app.get(Class);
    await eventually('they were called', () => mailer.log.length >= LED.length);
    expect(mailer.log).toEqual(LED);
    expect(mailer.leadership).toBe(app.get(LeaderElections).of('mailer').leadership);
    expect(mailer.leadership!.isHeld).toBe(true);

    await apps.close(app);
    expect(mailer.log).toEqual([...LED, 'aborted', 'end']);
    expect(mailer.loss).toBeUndefined();
    expect(mailer.leadership!.isHeld).toBe(false);
    expect(mailer.leadership!.signal.reason).toBeInstanceOf(LockLostError);
  });
});

describe('Methods that are notified of a leadership', () => {
  it('are called once where their class is a provider, and guards routes of several modules, too', async () => {
    const led: object[] = [];
    @Injectable()
    class Sweeper {
      @OnLeadership('mailer')
      sweep() {
        led.push(this);
      }

      canActivate() {
        return true;
      }
    }
    const imports = ['a', 'b'].map((path) => {
      @Controller(path)
      @UseGuards(Sweeper)
      class Routes {
        @Get()
        get() {}
      }
      @Module({ controllers: [Routes] })
      class Part {}
      return Part;
    });
    const app = await boot({ imports, providers: [Sweeper, Mailer] });
    await eventually('the others were called', () => app.get(Mailer).log.length >= LED.length);
    expect(led).toEqual([app.get(Sweeper)]);
    await apps.close(app);
  });

  it('are called once where their class is middleware of several modules', async () => {
    const led: object[] = [];
    @Injectable()
    class Sweeper {
      @OnLeadership('mailer')
      sweep() {
        led.push(this);
      }

      use(_request: unknown, _response: unknown, next: () => void) {
        next();
      }
    }
    const imports = ['a', 'b'].map((path) => {
      @Module({})
      class Part {
        configure(consumer: MiddlewareConsumer) {
          consumer.apply(Sweeper).forRoutes(path);
        }
      }
      return Part;
    });
    const app = await boot({ imports, providers: [Mailer] });
    await eventually('the others were called', () => app.get(Mailer).log.length >= LED.length);
    expect(led).toHaveLength(1);
    await apps.close(app);
  });

  it('are notified of its loss, with the reason, and of the next one', async () => {
    const app = await boot({
      clients: [],
      imports: [LockTestingModule.forRoot()],
      providers: [Mailer],
    });
    const [locks, mailer] = [app.get(LockTesting), app.get(Mailer)];
    await locks.advance(0);
    await locks.loseLease('mailer');
    await locks.advance(2_000);
    expect(mailer.log).toEqual([...LED, 'aborted', 'end', ...LED.slice(1)]);
    expect(mailer.loss).toBeInstanceOf(LockLostError);

    await locks.suspend();
    expect(mailer.log.slice(-2)).toEqual(['aborted', 'end']);
    await apps.close(app);
    expect(mailer.log.filter((each) => each === 'end')).toHaveLength(2); // it did not lead any more
  });

  it('do no harm when they fail: the failure is logged', async () => {
    @Injectable()
    class Clumsy {
      calls = 0;

      @OnLeadership('mailer')
      throwing() {
        this.calls += 1;
        throw new RangeError('no paper');
      }

      @OnLeadership('mailer')
      async rejecting() {
        this.calls += 1;
        throw new RangeError('no ink');
      }

      @OnLeadershipLost('mailer')
      async end() {
        this.calls += 1;
        throw new RangeError('no light');
      }
    }
    const app = await boot({ providers: [Clumsy, Mailer] });
    await eventually('the others were called', () => app.get(Mailer).log.length === LED.length);
    expect(app.get(LeaderElections).of('mailer').isLeader).toBe(true);
    await apps.close(app);
    expect(app.get(Clumsy).calls).toBe(3);
    expect(app.get(Mailer).log).toEqual([...LED, 'aborted', 'end']);
    expect(logger.lines.filter((line) => line.startsWith('error'))).toEqual([
      'error: Clumsy.throwing failed',
      'error: Clumsy.rejecting failed',
      'error: Clumsy.end failed',
    ]);
  });

  it('are those of the classes above, too, each once', async () => {
    const symbol = Symbol('begin');

    @Injectable()
    class Special extends Mailer {
      @OnLeadership('mailer')
      override begin(leadership: Leadership) {
        this.log.push('special');
        super.begin(leadership);
      }

      override end() {
        this.log.push('special end');
      }

      @OnLeadership('mailer')
      [symbol]() {
        this.log.push('symbol');
      }
    }
    const app = await boot({
      providers: [Special, { provide: 'alias', useExisting: Special }],
    });
    const { log } = app.get(Special);
    await leading(app);
    await apps.close(app);
    expect(log).toEqual([
      'up',
      'special',
      'begin',
      'symbol',
      'watch, held: true',
      'aborted',
      'special end',
    ]);
  });

  it('take the client of the decorator, else that of @LockDefaults', async () => {
    @Injectable()
    @LockDefaults({ client: 'other', wait: 100 })
    class Postman {
      readonly log: string[] = [];

      @OnLeadership('mailer')
      byDefault() {
        this.log.push('other');
      }

      @OnLeadership('mailer', { client: 'default' })
      named() {
        this.log.push('default');
      }

      @LeaderOnly('mailer')
      async run(): Promise<string | undefined> {
        return 'ran';
      }
    }
    const app = await boot({
      clients: [{}, { name: 'other' }],
      providers: [Postman],
    });
    await leading(app);
    await leading(app, 'mailer', 'other');
    expect(app.get(Postman).log.sort()).toEqual(['default', 'other']);
    await clientOf(app).close();
    expect(await app.get(Postman).run()).toBe('ran'); // by the other
  });

  it('may be guarded themselves', async () => {
    @Injectable()
    class Careful {
      readonly log: unknown[] = [];

      @OnLeadership('mailer')
      @WithMutex('desk')
      async below({ key }: Leadership): Promise<void> {
        this.log.push(key);
      }

      @LeaderOnly('mailer')
      @OnLeadership('mailer')
      async above({ key }: Leadership): Promise<void> {
        this.log.push(key);
      }
    }
    const app = await boot({ providers: [Careful] });
    await eventually('both have run', () => app.get(Careful).log.length === 2);
    expect(app.get(Careful).log).toEqual(['mailer', 'mailer']);
  });
});

describe('Methods of a module that is loaded lazily', () => {
  it.each(['beside', 'which imports it'])(
    'are called on nothing that is still to be constructed, when another is loaded %s',
    async (relation) => {
      const [started, released] = [new Deferred(), new Deferred()];
      const useFactory = () => {
        started.resolve();
        return released.promise;
      };
      @Injectable()
      class Slow extends Mailer {
        constructor(@Inject('slow') readonly slow: unknown) {
          super();
        }
      }
      @Module({ providers: [{ provide: 'slow', useFactory }, Slow] })
      class SlowModule {}
      @Module({ imports: relation === 'beside' ? [] : [SlowModule] })
      class FastModule {}

      const app = await boot({});
      const loader = app.get(LazyModuleLoader);
      const loading = loader.load(() => SlowModule);
      await started.promise;
      await nextTurn(); // of the slow module, all is built that does not wait
      await loader.load(() => FastModule);
      released.resolve();
      const slow = (await loading).get(Slow);
      await eventually('they were called', () => slow.log.length === 2);
      await apps.close(app);
      expect(slow.log).toEqual(['begin', 'watch, held: true', 'aborted', 'end']);
      expect(logger.lines.filter((line) => line.startsWith('error'))).toEqual([]);
    },
  );

  it('are called where the load begins during the boot, and ends after it', async () => {
    const released = new Deferred();
    @Injectable()
    class Late {
      readonly log: string[] = [];

      constructor(@Inject('slow') readonly slow: unknown) {}

      @OnLeadership('mailer')
      begin() {
        this.log.push('begin');
      }
    }
    @Module({ providers: [{ provide: 'slow', useFactory: () => released.promise }, Late] })
    class LazyModule {}
    let loading!: Promise<ModuleRef>;
    const prepare = (app: INestApplication) => {
      loading = app.get(LazyModuleLoader).load(() => LazyModule);
    };
    await boot({ prepare });
    released.resolve();
    const { log } = (await loading).get(Late);
    await eventually('it was called', () => log.length > 0);
    expect(logger.lines.filter((line) => line.startsWith('error'))).toEqual([]);
  });
});

describe('Methods that are loaded while the app leads', () => {
  @Injectable()
  class Late extends Mailer {
    lease?: Lease;

    @OnLeadership('mailer')
    override begin(leadership: Leadership) {
      super.begin(leadership);
      this.lease = currentLease();
    }
  }
  @Module({ providers: [Late, { provide: 'alias', useExisting: Late }] })
  class LateModule {}

  it('are called for this term, outside of the lock of the load, then for its end and the next term', async () => {
    const app = await boot({
      clients: [],
      imports: [LockTestingModule.forRoot()],
      providers: [Mailer],
    });
    const locks = app.get(LockTesting);
    await locks.advance(0);
    const load = () => app.get(LazyModuleLoader).load(() => LateModule);
    const late = (await clientOf(app).mutex('desk').using(load)).get(Late);
    await load();
    expect(late.log).toEqual(LED.slice(1));
    expect(late.leadership).toBe(app.get(LeaderElections).of('mailer').leadership);
    expect(late.lease).toBeUndefined();

    await locks.loseLease('mailer');
    await locks.advance(2_000);
    expect(late.log).toEqual([...LED.slice(1), 'aborted', 'end', ...LED.slice(1)]);
    expect(app.get(Mailer).log).toEqual([...LED, 'aborted', 'end', ...LED.slice(1)]);
  });

  it('are notified of an end that one of them has caused', async () => {
    const log: string[] = [];
    const app = await boot({ providers: [Mailer] });
    @Injectable()
    class Ending {
      @OnLeadership('mailer')
      begin() {
        log.push('begin');
        void clientOf(app).close();
      }

      @OnLeadership('mailer')
      watch() {
        log.push('watch');
      }

      @OnLeadershipLost('mailer')
      end() {
        log.push('end');
      }
    }
    @Module({ providers: [Ending] })
    class EndingModule {}
    await leading(app);
    await app.get(LazyModuleLoader).load(() => EndingModule);
    await eventually('it has ended', () => app.get(Mailer).log.includes('end'));
    expect(log.filter((each) => each !== 'watch')).toEqual(['begin', 'end']);
  });

  it('are not called where the leadership has ended', async () => {
    const app = await boot({ providers: [Mailer] });
    await leading(app);
    await clientOf(app).close();
    const late = (await app.get(LazyModuleLoader).load(() => LateModule)).get(Late);
    expect(late.log).toEqual([]);
  });
});

describe('An app does not start', () => {
  const complaintOf = (...providers: Type[]) => apps.bootError({ providers });
  const advice = 'Move it to a singleton provider or controller.';
  const why =
    'its class is not a singleton: it is transient, or request-scoped by itself or by what it injects';

  @Injectable({ scope: Scope.REQUEST })
  class OfRequests extends Mailer {}

  @Injectable({ scope: Scope.TRANSIENT })
  class Transient extends Mailer {}

  @Injectable()
  class WithRequest extends Mailer {
    constructor(@Inject(REQUEST) readonly request: unknown) {
      super();
    }
  }

  it.each([
    ['a request-scoped provider', OfRequests],
    ['a transient provider', Transient],
    ['a provider that injects the request', WithRequest],
  ])('with a handler of %s', async (_, provider) => {
    const error = await complaintOf(provider);
    expect(error).toBeInstanceOf(LockDecoratorTargetError);
    expect(error.message).toBe(`@OnLeadership cannot call Mailer.begin: ${why}. ${advice}`);
  });

  it('with a client that there is not', async () => {
    @Injectable()
    class Handler {
      @OnLeadershipLost('mailer', { client: 'archive' })
      end() {}
    }

    @Injectable()
    class Guarded {
      @LeaderOnly('mailer', { client: 'archive' })
      async run(): Promise<void> {}
    }
    for (const [provider, method] of [
      [Handler, 'Handler.end'],
      [Guarded, 'Guarded.run'],
    ] as const) {
      const error = await complaintOf(provider);
      expect(error).toBeInstanceOf(LockClientUnknownError);
      expect(error.message).toContain(
        `There is no lock client "archive", which ${method} asks for; registered: "default".`,
      );
    }
  });

  it('with the key of another kind of lock', async () => {
    @Injectable()
    class Desk {
      @WithMutex('mailer')
      async run(): Promise<void> {}
    }

    @Injectable()
    class Guarded {
      @LeaderOnly('mailer')
      async run(): Promise<void> {}
    }
    const error = await complaintOf(Desk, Guarded);
    expect(error).toBeInstanceOf(LockKeyError);
    expect(error.message).toContain('(it is the key of Guarded.run)');
    const other = await complaintOf(Desk, Mailer);
    expect(other).toBeInstanceOf(LockKeyError);
    expect(other.message).toMatch(/\(it is the key of (Mailer\.begin|Desk\.run)\)/);
  });
});
