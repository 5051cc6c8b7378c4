import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import {
  Inject,
  Injectable,
  Module,
  Scope,
  type INestApplication,
  type OnModuleInit,
  type Provider,
} from '@nestjs/common';
import { ContextIdFactory, ModuleRef } from '@nestjs/core';
import {
  CommandBus,
  CommandHandler,
  CqrsModule,
  EventBus,
  EventsHandler,
  QueryBus,
  QueryHandler,
} from '@nestjs/cqrs';
import { EventEmitter2, EventEmitterModule, OnEvent } from '@nestjs/event-emitter';
import { Cron, Interval, ScheduleModule, SchedulerRegistry, Timeout } from '@nestjs/schedule';
import { InjectLockClient, type LockClient } from '../../lib/index.js';
import { Deferred } from '../support/time.js';
import { clientOf, Room, useApps, type AppParts } from './support/apps.js';
import { LOCK_KINDS, PLACED_KINDS, type LockKind } from './support/lock-kinds.js';

interface Counter {
  count(coins: number): Promise<number>;
}

/** Providers of an app that locks by that decorator. */
function tillsThat({ lock }: LockKind) {
  @Injectable()
  class Till implements Counter {
    constructor(protected readonly room: Room) {}

    @lock('till')
    async count(coins: number): Promise<number> {
      return this.room.stay(coins);
    }

    async countAll(coins: number): Promise<number> {
      return this.count(coins);
    }
  }

  @Injectable()
  class NightTill extends Till {}

  @Injectable()
  class PrivateTill {
    readonly #room: Room;

    constructor(room: Room) {
      this.#room = room;
    }

    @lock('till')
    async count(coins: number): Promise<number> {
      return this.#room.stay(coins);
    }
  }

  @Injectable({ scope: Scope.REQUEST })
  class RequestTill extends Till {}

  @Injectable({ scope: Scope.TRANSIENT })
  class TransientTill extends Till {}

  @Injectable()
  class Accountant {
    constructor(readonly till: TransientTill) {}
  }

  @Injectable()
  class Opener {
    constructor(readonly module: ModuleRef) {}
  }

  return { Till, NightTill, PrivateTill, RequestTill, TransientTill, Accountant, Opener };
}

/** Work that a timer starts; it is done once, though the timer may have gone off again when it is stopped. */
@Injectable()
class Work {
  readonly done = new Deferred<number>();
  #isStarted = false;

  constructor(
    private readonly room: Room,
    private readonly timers: SchedulerRegistry,
  ) {}

  async do(): Promise<void> {
    if (this.#isStarted) return;
    this.#isStarted = true;
    for (const name of this.timers.getIntervals()) this.timers.deleteInterval(name);
    this.done.resolve(await this.room.stay(3));
  }
}

const ONCE_IN_FOUR_YEARS = '0 0 29 2 *';
const SCHEDULES = {
  '@Cron': Cron(ONCE_IN_FOUR_YEARS, { name: 'job' }),
  '@Timeout': Timeout(1),
  '@Interval': Interval(20),
};
type Schedule = keyof typeof SCHEDULES;

/** A job of that schedule, with the lock above or below. */
function jobThat({ lock }: LockKind, schedule: Schedule, place: 'above' | 'below') {
  const locked = lock(
    'till',
    schedule === '@Interval' ? { onBusy: 'skip' } : {},
  ) as MethodDecorator;
  const [upper, lower] =
    place === 'above' ? [locked, SCHEDULES[schedule]] : [SCHEDULES[schedule], locked];

  @Injectable()
  class Job {
    constructor(private readonly work: Work) {}

    @upper
    @lower
    async run(): Promise<void> {
      await this.work.do();
    }
  }

  return Job;
}

class Coins {
  constructor(readonly coins: number) {}
}
class Pay extends Coins {}
class Paid extends Coins {}
class HowMany extends Coins {}

/** Handlers and listeners of an app that locks by that decorator. */
function handlersThat({ lock }: LockKind) {
  @Injectable()
  class Handler {
    readonly handled = new Deferred<number>();

    constructor(protected readonly room: Room) {}
  }

  @CommandHandler(Pay)
  class PayHandler extends Handler {
    @lock('till:{0.coins}')
    async execute({ coins }: Pay): Promise<number> {
      return this.room.stay(coins);
    }
  }

  @EventsHandler(Paid)
  class PaidHandler extends Handler {
    @lock('till:{0.coins}')
    async handle({ coins }: Paid): Promise<void> {
      this.handled.resolve(await this.room.stay(coins));
    }
  }

  @QueryHandler(HowMany)
  class HowManyHandler extends Handler {
    @lock('till:{0.coins}')
    async execute({ coins }: HowMany): Promise<number> {
      return this.room.stay(coins);
    }
  }

  @Injectable()
  class Listeners extends Handler {
    @OnEvent('lock.below')
    @lock('till:{0}')
    async lockBelow(coins: number): Promise<number> {
      return this.room.stay(coins);
    }

    @lock('till:{0}')
    @OnEvent('lock.above')
    async lockAbove(coins: number): Promise<number> {
      return this.room.stay(coins);
    }
  }

  return { PayHandler, PaidHandler, HowManyHandler, Listeners };
}

interface CallSite {
  readonly parts: (room: Room) => AppParts;
  readonly call: (app: INestApplication) => unknown;
  /** What its lock is called. */
  readonly key?: string;
}

/** Where apps call locked methods, and where other ways to wrap a method lose the lock, or the handler. */
function callSitesThat(kind: LockKind): Record<string, CallSite> {
  const { Till, NightTill, PrivateTill, RequestTill, TransientTill, Accountant, Opener } =
    tillsThat(kind);
  const { PayHandler, PaidHandler, HowManyHandler, Listeners } = handlersThat(kind);
  const cqrs = () => ({
    imports: [CqrsModule.forRoot()],
    providers: [PayHandler, PaidHandler, HowManyHandler],
  });
  const events = () => ({ imports: [EventEmitterModule.forRoot()], providers: [Listeners] });
  const emit = async (app: INestApplication, event: string) =>
    (await app.get(EventEmitter2).emitAsync(event, 3))[0] as unknown;
  const job = (schedule: Schedule, place: 'above' | 'below'): CallSite => ({
    parts: () => ({
      imports: [ScheduleModule.forRoot()],
      providers: [Work, jobThat(kind, schedule, place)],
    }),
    call: (app) => {
      if (schedule === '@Cron') void app.get(SchedulerRegistry).getCronJob('job').fireOnTick();
      return app.get(Work).done.promise;
    },
  });

  return {
    'a method of a service': {
      parts: () => ({ providers: [Till] }),
      call: (app) => app.get(Till).count(3),
    },
    'a method that the service calls on itself': {
      parts: () => ({ providers: [Till] }),
      call: (app) => app.get(Till).countAll(3),
    },
    'an inherited method': {
      parts: () => ({ providers: [NightTill] }),
      call: (app) => app.get(NightTill).count(3),
    },
    'a method that uses private fields': {
      parts: () => ({ providers: [PrivateTill] }),
      call: (app) => app.get(PrivateTill).count(3),
    },
    'a method of a request-scoped provider': {
      parts: () => ({ providers: [RequestTill] }),
      call: async (app) => (await app.resolve(RequestTill, ContextIdFactory.create())).count(3),
    },
    'a method of a transient provider': {
      parts: () => ({ providers: [Accountant, TransientTill] }),
      call: (app) => app.get(Accountant).till.count(3),
    },
    'a method of an instance that a factory made': {
      parts: () => ({
        providers: [
          { provide: 'till', inject: [Room], useFactory: (room: Room) => new Till(room) },
        ],
      }),
      call: (app) => app.get<Counter>('till').count(3),
    },
    'a method of an instance that was given as a value': {
      parts: (room) => ({ providers: [{ provide: 'till', useValue: new NightTill(room) }] }),
      call: (app) => app.get<Counter>('till').count(3),
    },
    'a method of an instance that moduleRef.create made': {
      parts: () => ({ providers: [Opener] }),
      call: async (app) => (await app.get(Opener).module.create(Till)).count(3),
    },
    'a @Cron method, lock below': job('@Cron', 'below'),
    'a @Cron method, lock above': job('@Cron', 'above'),
    'a @Timeout method, lock below': job('@Timeout', 'below'),
    'a @Timeout method, lock above': job('@Timeout', 'above'),
    'an @Interval method, lock below': job('@Interval', 'below'),
    'an @Interval method, lock above': job('@Interval', 'above'),
    'an @OnEvent method, lock below': {
      parts: events,
      call: (app) => emit(app, 'lock.below'),
      key: 'till:3',
    },
    'an @OnEvent method, lock above': {
      parts: events,
      call: (app) => emit(app, 'lock.above'),
      key: 'till:3',
    },
    'a CQRS command handler': {
      parts: cqrs,
      call: (app) => app.get(CommandBus).execute(new Pay(3)),
      key: 'till:3',
    },
    'a CQRS event handler': {
      parts: cqrs,
      call: (app) => {
        app.get(EventBus).publish(new Paid(3));
        return app.get(PaidHandler).handled.promise;
      },
      key: 'till:3',
    },
    'a CQRS query handler': {
      parts: cqrs,
      call: (app) => app.get(QueryBus).execute(new HowMany(3)),
      key: 'till:3',
    },
  };
}

describe.each(PLACED_KINDS)(
  'With LockModule imported $position, the lock of @$decorator is held around',
  ({ position, ...kind }) => {
    const apps = useApps();

    it.each(Object.entries(callSitesThat(kind)))('%s', async (_, { parts, call, key = 'till' }) => {
      const app = await apps.boot({ ...parts(apps.room), position });
      const client = clientOf(app);
      expect(await apps.held(client, kind.rival(client, key), () => call(app))).toBe(3);
    });

    const { Till } = tillsThat(kind);
    it.each<[string, Provider]>([
      ['a method', Till],
      [
        'a method of an instance from a factory',
        { provide: Till, inject: [Room], useFactory: (room: Room) => new Till(room) },
      ],
    ])("%s called in another module's onModuleInit", async (_, provider) => {
      const found: unknown[] = [];

      @Module({ providers: [provider, { provide: Room, useValue: apps.room }] })
      class OpeningModule implements OnModuleInit {
        constructor(
          @Inject(Till) private readonly till: Counter,
          @InjectLockClient() private readonly client: LockClient,
        ) {}

        async onModuleInit() {
          const rival = kind.rival(this.client, 'till');
          found.push(await apps.held(this.client, rival, () => this.till.count(3)));
        }
      }

      await apps.boot({ imports: [OpeningModule], position });
      expect(found).toEqual([3]);
    });
  },
);

describe('The call sites of a locked method', () => {
  it('inside of a process are twenty-two, with those in onModuleInit', () => {
    expect(Object.keys(callSitesThat(LOCK_KINDS[0]!)).length + 2).toBe(22);
  });

  /** The tests of the others by the specs that they are in, each with the lock above and below a decorator. */
  const SPECS = {
    'call-sites-transports': [
      'holds the lock of its transformed arguments, and keeps status, header and body',
      "Controller('below')",
      "Controller('above')",
      "path: 'scoped', scope: Scope.REQUEST",
      'Fastify',
      'is still guarded, by its metadata',
      'keeps its name and length',
      'a handler of a WebSocket gateway, %s',
      'a @MessagePattern handler, %s',
      "'lock below', 'lock above', 'request-scoped'",
      'an @EventPattern handler',
      'a GraphQL query, lock below',
      'a GraphQL mutation',
      'a GraphQL field',
    ],
    'call-sites.servers': [
      'the process method of a BullMQ worker',
      'an @OnWorkerEvent method, lock above',
      'an @OnWorkerEvent method, lock below',
    ],
    module: ['on an instance that Nest did not make'],
  };

  it.each(Object.entries(SPECS))('have their tests in %s', (spec, tests) => {
    const text = readFileSync(`test/e2e/${spec}.spec.ts`, 'utf8');
    expect(tests.filter((test) => !text.includes(test))).toEqual([]);
  });
});
