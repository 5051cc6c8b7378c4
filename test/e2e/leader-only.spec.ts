import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  Controller,
  Get,
  Injectable,
  Scope,
  type INestApplication,
  type OnModuleInit,
  type Provider,
} from '@nestjs/common';
import request from 'supertest';
import {
  currentLease,
  InjectLockClient,
  LeaderElections,
  LeaderOnly,
  LockDefaults,
  LockLostError,
  type LeaderLatch,
  type Lease,
  type LockClient,
} from '../../lib/index.js';
import { LockTesting, LockTestingModule } from '../../lib/testing/index.js';
import { eventually } from '../support/time.js';
import { clientOf, RecordingLogger, Room, useApp, useApps } from './support/apps.js';

/** What the `onLost` of {@link Mailer.told} was called with. */
let lost: unknown[];
beforeEach(() => void (lost = []));

/** A controller with methods that run on the leader of `mailer`, one for each policy on loss. */
@Controller('mails')
class Mailer {
  lease?: Lease;

  constructor(private readonly room: Room) {}

  @LeaderOnly('mailer')
  async send(...to: string[]): Promise<string | undefined> {
    this.lease = currentLease();
    return `sent to ${to.join(' and ')}`;
  }

  @LeaderOnly('mailer')
  async outer(): Promise<string | undefined> {
    return this.send('the inner one');
  }

  @LeaderOnly('mailer')
  async failing(error: Error): Promise<void> {
    throw error;
  }

  @Get()
  @LeaderOnly('mailer')
  async throwing(): Promise<string | undefined> {
    return this.#stay();
  }

  @LeaderOnly('mailer', { onLost: 'abort' })
  async aborting(): Promise<string | undefined> {
    return this.#stay();
  }

  @LeaderOnly('mailer', { onLost: 'ignore' })
  async ignoring(): Promise<string | undefined> {
    return this.#stay();
  }

  @LeaderOnly<[string]>('mailer', { onLost: (error, to) => lost.push([error.code, to]) })
  async told(_to: string): Promise<string | undefined> {
    return this.#stay();
  }

  #stay(): Promise<string> {
    this.lease = currentLease();
    return this.room.stay('sent');
  }
}

const electionOf = (app: INestApplication) => app.get(LeaderElections).of('mailer');

describe('@LeaderOnly', () => {
  const apps = useApps();
  const boot = (...providers: Provider[]) =>
    apps.boot({ clients: [{ drainTimeout: 50 }], controllers: [Mailer], providers });
  const leading = (app: INestApplication) =>
    eventually('it leads', () => electionOf(app).isLeader && app);
  const bootLeader = async (...providers: Provider[]) => {
    const app = await leading(await boot(...providers));
    return { app, mailer: app.get(Mailer) };
  };

  it('stands for election without a call, and runs a method where the app leads', async () => {
    const { mailer } = await bootLeader();
    expect(await mailer.send('Ann', 'Bob')).toBe('sent to Ann and Bob');
    expect(await mailer.outer()).toBe('sent to the inner one');
    expect(mailer.lease!.key).toBe('mailer');
    expect(mailer.lease!.isHeld).toBe(false); // it was released
  });

  it('has the leadership as the current lease, with its fencing token', async () => {
    const { app, mailer } = await bootLeader();
    const call = mailer.throwing();
    await apps.room.entered.promise;
    const { leadership } = electionOf(app);
    expect(mailer.lease!.isHeld).toBe(true);
    expect(await mailer.lease!.fencingToken()).toBe(await leadership!.fencingToken());
    apps.room.open();
    expect(await call).toBe('sent');
  });

  it('lets errors of the method pass', async () => {
    const { mailer } = await bootLeader();
    const error = new RangeError('no such address');
    await expect(mailer.failing(error)).rejects.toBe(error);
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
    const election = electionOf(app);
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
    const { app } = await bootLeader(Transient, OfRequests);
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

    const app = await apps.boot({ clients: [{}, { name: 'other' }], providers: [Heir] });
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
    const { app, mailer } = await bootLeader();
    await app.listen(0, '127.0.0.1');
    const response = request(app.getHttpServer()).get('/mails').then();
    await apps.room.entered.promise;
    const { lease } = mailer;
    const { log } = apps.room;
    clientOf(app).on('released', ({ key }) => void log.push(`released ${key}`));

    const closing = apps.close(app);
    await eventually('it has left the election', () => electionOf(app).state === 'closed');
    expect(await mailer.send('Ann')).toBeUndefined();
    expect(lease!.isHeld).toBe(true);
    apps.room.open();
    expect((await response).text).toBe('sent');
    await closing;
    expect(log).toEqual(['left', 'released mailer']);
  });

  it('loses what does not end before the app has shut down', async () => {
    const { app, mailer } = await bootLeader();
    const call = mailer.throwing();
    await apps.room.entered.promise;
    await apps.close(app);
    const { signal } = mailer.lease!;
    expect(signal.aborted).toBe(true);
    apps.room.open();
    await expect(call).rejects.toBe(signal.reason);
  });
});

describe('@LeaderOnly in virtual time', () => {
  const app = useApp(() => ({
    clients: [],
    imports: [LockTestingModule.forRoot()],
    providers: [Mailer],
    logger: new RecordingLogger(),
  }));
  const mailer = () => app.get(Mailer);
  const locks = () => app.get(LockTesting);
  beforeEach(() => locks().advance(0));

  const accidents = {
    suspend: () => locks().suspend(),
    expire: () => locks().expire(),
    loseLease: () => locks().loseLease('mailer'),
  };

  it.each(Object.entries(accidents))(
    'rejects a run when its leadership is lost by %s',
    async (_, happen) => {
      expect(electionOf(app.nest).isLeader).toBe(true);
      const call = expect(mailer().throwing()).rejects.toBeInstanceOf(LockLostError);
      await app.room.entered.promise;
      await happen();
      expect(mailer().lease!.signal.aborted).toBe(true);
      app.room.open();
      await call;
    },
  );

  it('rejects at once with `abort`, settles as the method does with `ignore`, and calls a function', async () => {
    const aborted = expect(mailer().aborting()).rejects.toBeInstanceOf(LockLostError);
    const others = [mailer().ignoring(), mailer().told('Ann')];
    await app.room.entered.promise;
    await locks().loseLease('mailer');
    await aborted;
    expect(lost).toEqual([['LOCK_LOST', 'Ann']]);
    app.room.open();
    expect(await Promise.all(others)).toEqual(['sent', 'sent']);
  });

  it('skips while the connection is interrupted, and runs again afterwards', async () => {
    await locks().suspend();
    expect(electionOf(app.nest).state).toBe('follower');
    expect(await mailer().send('Ann')).toBeUndefined();
    await locks().resume();
    await locks().advance(0);
    expect(electionOf(app.nest).state).toBe('leader');
    expect(await mailer().send('Ann')).toBe('sent to Ann');
  });

  it.each(['expire', 'loseLease'] as const)('leads again after %s', async (accident) => {
    await accidents[accident]();
    await locks().advance(2_000);
    expect(electionOf(app.nest).state).toBe('leader');
    expect(await mailer().send('Ann')).toBe('sent to Ann');
  });
});
