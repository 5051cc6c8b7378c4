import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  Injectable,
  Scope,
  type INestApplication,
  type OnModuleInit,
  type Provider,
} from '@nestjs/common';
import { Cron, Interval, ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import {
  currentLease,
  InjectLockClient,
  LeaderElections,
  LeaderOnly,
  LockDefaults,
  LockModule,
  type LeaderLatch,
  type LockClient,
} from '../../lib/index.js';
import request from 'supertest';
import { eventually } from '../support/eventually.js';
import { Apps, clientOf } from './support/apps.js';
import { Mailer } from './support/mailer.js';
import { RecordingLogger } from './support/recording-logger.js';
import { Room } from './support/room.js';

const apps = new Apps();
afterEach(() => apps.close());

const leading = (app: INestApplication, name = 'mailer') =>
  eventually('it leads', () => app.get(LeaderElections).of(name).isLeader);

describe('@LeaderOnly', () => {
  let room: Room;
  const boot = (...providers: Provider[]) =>
    apps.boot({
      imports: [LockModule.forRoot()],
      controllers: [Mailer],
      providers: [{ provide: Room, useValue: room }, ...providers],
    });
  beforeEach(() => void (room = new Room()));
  afterEach(() => room.open());

  it('stands for election without a call, and runs a method where the app leads', async () => {
    const app = await boot();
    await leading(app);
    const mailer = app.get(Mailer);
    expect(await mailer.send('Ann', 'Bob')).toBe('sent to Ann and Bob');
    expect(await mailer.outer()).toBe('sent to the inner one');
    expect(mailer.lease!.key).toBe('mailer');
    expect(mailer.lease!.isHeld).toBe(false); // it was released
  });

  it('has the leadership as the current lease, with its fencing token', async () => {
    const app = await boot();
    await leading(app);
    const mailer = app.get(Mailer);
    const call = mailer.throwing();
    await room.entered.promise;
    const { leadership } = app.get(LeaderElections).of('mailer');
    expect(mailer.lease!.isHeld).toBe(true);
    expect(await mailer.lease!.fencingToken()).toBe(await leadership!.fencingToken());
    room.open();
    expect(await call).toBe('sent');
  });

  it('lets errors of the method pass', async () => {
    const app = await boot();
    await leading(app);
    const error = new RangeError('no such address');
    await expect(app.get(Mailer).failing(error)).rejects.toBe(error);
  });

  it('skips where another app leads', async () => {
    const rivals: LeaderLatch[] = [];

    @Injectable()
    class Rival implements OnModuleInit {
      constructor(@InjectLockClient() private readonly client: LockClient) {}

      async onModuleInit() {
        rivals.push(this.client.leaderLatch('mailer')); // of another replica, as it were
        rivals[0]!.start();
        await rivals[0]!.awaitLeadership();
      }
    }
    const app = await boot(Rival);
    const election = app.get(LeaderElections).of('mailer');
    await eventually('it stands', async () => (await election.participants()).length === 2);
    expect(election.state).toBe('follower');
    expect(await app.get(Mailer).send('Ann')).toBeUndefined();
    await rivals[0]!.close();
    await leading(app);
    expect(await app.get(Mailer).send('Ann')).toBe('sent to Ann');
  });

  it('is skipped before the app is up', async () => {
    const results: unknown[] = [];

    @Injectable()
    class Early extends Mailer {
      async onModuleInit() {
        results.push(await this.send('Ann'));
      }
    }
    await boot(Early);
    expect(results).toEqual([undefined]);
  });

  it('stands for the election of a transient class, and of one of requests, before there is one', async () => {
    @Injectable({ scope: Scope.TRANSIENT })
    class Transient {
      @LeaderOnly('transient')
      async run(): Promise<string | undefined> {
        return 'ran';
      }
    }

    @Injectable({ scope: Scope.REQUEST })
    class OfRequests {
      @LeaderOnly('of requests')
      async run(): Promise<string | undefined> {
        return 'ran';
      }
    }
    const app = await boot(Transient, OfRequests);
    await leading(app, 'mailer');
    const states = () => Object.entries(app.get(LeaderElections).states()!).sort();
    await eventually('it leads all', () => states().every(([, state]) => state === 'leader'));
    expect(states().map(([name]) => name)).toEqual(['mailer', 'of requests', 'transient']);
    expect(await (await app.resolve(Transient)).run()).toBe('ran');
    expect(await (await app.resolve(OfRequests)).run()).toBe('ran');
  });

  it('works in a class that extends the decorated one, with the client of its @LockDefaults', async () => {
    @Injectable()
    @LockDefaults({ client: 'other', wait: 'forever', onLost: 'ignore', onBusy: 'throw' })
    class Heir extends Mailer {}

    const app = await apps.boot({
      imports: [LockModule.forRoot(), LockModule.forRoot({ name: 'other' })],
      providers: [Heir, { provide: Room, useValue: room }],
    });
    const elections = app.get(LeaderElections);
    const election = elections.of('mailer', { client: 'other' });
    await eventually('it leads', () => election.isLeader);
    expect(elections.states()).toBeUndefined();
    expect(elections.states('other')).toEqual({ mailer: 'leader' });
    expect(await app.get(Heir).send('Ann')).toBe('sent to Ann');
    await clientOf(app, 'other').close();
    expect(await app.get(Heir).send('Ann')).toBeUndefined();
  });

  it('ends a request as the leader when the app shuts down meanwhile', async () => {
    const app = await boot();
    await app.listen(0, '127.0.0.1');
    await leading(app);
    const [mailer, client] = [app.get(Mailer), clientOf(app)];
    const response = request(app.getHttpServer()).get('/mails').then();
    await room.entered.promise;
    const { lease } = mailer;
    client.on('released', ({ key }) => void room.log.push(`released ${key}`));

    const closing = apps.close(app);
    const election = app.get(LeaderElections).of('mailer');
    await eventually('it has left the election', () => election.state === 'closed');
    expect(await mailer.send('Ann')).toBeUndefined();
    expect(lease!.isHeld).toBe(true);
    room.open();
    expect((await response).text).toBe('sent');
    await closing;
    expect(room.log).toEqual(['left', 'released mailer']);
  });

  it('loses what does not end before the app has shut down', async () => {
    const app = await boot();
    await leading(app);
    const mailer = app.get(Mailer);
    const call = mailer.throwing();
    await room.entered.promise;
    await apps.close(app);
    const { signal } = mailer.lease!;
    expect(signal.aborted).toBe(true);
    room.open();
    await expect(call).rejects.toBe(signal.reason);
  });
});

describe('@LeaderOnly on a schedule', () => {
  @Injectable()
  class Schedules {
    readonly ran = { above: 0, below: 0, cron: 0 };

    @LeaderOnly('schedules')
    @Interval('above', 20)
    async above(): Promise<void> {
      this.ran.above += currentLease()?.isHeld ? 1 : NaN;
    }

    @Interval('below', 20)
    @LeaderOnly('schedules')
    async below(): Promise<void> {
      this.ran.below += currentLease()?.isHeld ? 1 : NaN;
    }

    @Cron('* * * * * *', { name: 'cron' })
    @LeaderOnly('schedules')
    async cron(): Promise<void> {
      this.ran.cron += currentLease()?.isHeld ? 1 : NaN;
    }
  }

  it('runs under the leadership, whether it stands above or below', async () => {
    const app = await apps.boot(
      { imports: [ScheduleModule.forRoot(), LockModule.forRoot()], providers: [Schedules] },
      (builder) => builder.setLogger(new RecordingLogger()),
    );
    const { ran } = app.get(Schedules);
    await eventually('all have run', () => ran.above && ran.below && ran.cron);
    expect(app.get(SchedulerRegistry).getIntervals()).toEqual(['above', 'below']);
  });
});
