import { describe, expect, it } from '@jest/globals';
import {
  Global,
  Injectable,
  type INestApplication,
  Module,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { toArray, type Observable } from 'rxjs';
import { LockHealthIndicator } from '../../lib/health/index.js';
import {
  InjectLockClient,
  LeaderElections,
  type LockClient,
  LockClientClosedError,
  LockClientUnknownError,
  LockKeyError,
  LockTimeoutError,
  type LeaderElection,
  type LockModuleOptions,
} from '../../lib/index.js';
import { LockTesting, LockTestingModule } from '../../lib/testing/index.js';
import { Deferred, eventually } from '../support/time.js';
import { clientOf, RecordingLogger, useApps } from './support/apps.js';

/** No stall of this machine takes so long, in ms. */
const PATIENCE = 20_000;

const apps = useApps();

const electionsOf = (app: INestApplication) => app.get(LeaderElections);
const historyOf = <T>(values: Observable<T>) =>
  new Promise<T[]>((resolve, reject) =>
    values.pipe(toArray()).subscribe({ next: resolve, error: reject }),
  );

describe('LeaderElections', () => {
  const boot = (...others: LockModuleOptions[]) => apps.boot({ clients: [{}, ...others] });

  it('has one election for each name and client', async () => {
    const elections = electionsOf(await boot({ name: 'other' }));
    const election = elections.of('mailer');
    expect(elections.of('mailer')).toBe(election);
    expect(elections.of('mailer', { client: 'default' })).toBe(election);
    const other = elections.of('mailer', { client: 'other' });
    expect(other).not.toBe(election);
    expect(elections.of('printer')).not.toBe(election);
    expect([election.name, election.client, other.client]).toEqual(['mailer', 'default', 'other']);
  });

  it('stands for an election that the app asks for later at once', async () => {
    const election = electionsOf(await boot()).of('mailer');
    const leadership = await election.awaitLeadership({ wait: PATIENCE });
    expect(election.leadership).toBe(leadership);
    expect([election.isLeader, election.state]).toEqual([true, 'leader']);
    const [me] = await election.participants();
    expect(me).toEqual({ id: expect.any(String), isLeader: true });
    expect(await election.leader()).toEqual(me);
  });

  it('stands for one that a module asks for while the app boots when it is up', async () => {
    let early: LeaderElection | undefined;
    const seen: unknown[] = [];

    @Injectable()
    class Early implements OnModuleInit {
      constructor(private readonly elections: LeaderElections) {}

      async onModuleInit() {
        early = this.elections.of('mailer');
        seen.push(
          early.state,
          await early.awaitLeadership({ wait: 50 }).catch((error: unknown) => error),
        );
      }
    }
    await apps.boot({ providers: [Early] });
    expect(seen).toEqual(['follower', expect.any(LockTimeoutError)]);
    await early!.awaitLeadership({ wait: PATIENCE });
  });

  it.each(['first', 'last'] as const)(
    'stands after all hooks of the boot, and leaves before all of the shutdown, LockModule imported %s',
    async (position) => {
      const log: string[] = [];

      @Injectable()
      class Database implements OnApplicationBootstrap, OnModuleDestroy {
        constructor(
          elections: LeaderElections,
          @InjectLockClient() private readonly locks: LockClient,
        ) {
          elections.of('mailer').state$.subscribe((state) => void log.push(state));
        }

        async onApplicationBootstrap() {
          await this.elect('database opens');
        }

        async onModuleDestroy() {
          await this.elect('database closes');
        }

        /** Another participant is elected if the app does not take part. */
        private async elect(event: string) {
          const other = this.locks.leaderLatch('mailer');
          other.start();
          await other.awaitLeadership({ wait: 1_000 });
          log.push(event);
          await other.close();
        }
      }

      @Global()
      @Module({ providers: [Database] })
      class DatabaseModule {}

      const app = await apps.boot({ position, imports: [DatabaseModule] });
      await electionsOf(app).of('mailer').awaitLeadership({ wait: PATIENCE });
      await apps.close(app);
      expect(log).toEqual(['follower', 'database opens', 'leader', 'closed', 'database closes']);
    },
  );

  it('takes part in none when the app is closed while it boots', async () => {
    const [entered, gate] = [new Deferred(), new Deferred()];
    let elections!: LeaderElections;

    @Injectable()
    class Slow implements OnApplicationBootstrap {
      constructor(all: LeaderElections) {
        elections = all;
        all.of('mailer');
      }

      async onApplicationBootstrap() {
        entered.resolve();
        await gate.promise;
      }
    }
    let app!: INestApplication;
    const booting = apps.boot({ providers: [Slow], prepare: (made) => void (app = made) });
    await entered.promise;
    const closing = apps.close(app);
    await eventually('the shutdown has begun', () => elections.of('mailer').state === 'closed');
    gate.resolve();
    await Promise.all([booting, closing]);
    expect(await historyOf(elections.of('printer').state$)).toEqual(['closed']);
  });

  it('refuses what it cannot have', async () => {
    const elections = electionsOf(await boot());
    expect(() => elections.of('mailer', { client: 'other' })).toThrow(LockClientUnknownError);
    expect(() => elections.of('')).toThrow(LockKeyError);
  });

  it('may be asked in constructors, and a mistake there fails the boot', async () => {
    @Injectable()
    class Postman {
      readonly election: LeaderElection;
      readonly states: string[] = [];

      constructor(elections: LeaderElections) {
        this.election = elections.of('mailer');
        this.election.state$.subscribe((state) => this.states.push(state));
      }
    }
    const app = await apps.boot({ providers: [Postman] });
    const { election, states } = app.get(Postman);
    expect(electionsOf(app).of('mailer')).toBe(election);
    await election.awaitLeadership({ wait: PATIENCE });
    expect(states).toEqual(['follower', 'leader']);

    const complaints: unknown[] = [];

    @Injectable()
    class Lost {
      constructor(elections: LeaderElections) {
        elections.of('mailer', { client: 'archive' });
      }
    }
    const logger = Object.assign(new RecordingLogger(), {
      error: (complaint: unknown) => complaints.push(complaint),
    });
    const error = await apps.bootError({ providers: [Lost], logger });
    expect(error).toBeInstanceOf(LockClientUnknownError);
    await apps.close(); // what of it was made ends without a complaint
    expect(complaints).toEqual([]);
  });

  it('leaves all of them when the app shuts down, those that are asked for later too', async () => {
    const app = await boot();
    const elections = electionsOf(app);
    const election = elections.of('mailer');
    await election.awaitLeadership({ wait: PATIENCE });
    await apps.close(app);
    expect(election.state).toBe('closed');
    expect(election.isLeader).toBe(false);
    await expect(election.awaitLeadership()).rejects.toBeInstanceOf(LockClientClosedError);
    expect(elections.of('mailer')).toBe(election);
    expect(await historyOf(elections.of('printer').state$)).toEqual(['closed']);
  });
});

describe('state$ of an election', () => {
  it('begins with the current state, emits changes, and completes when the app shuts down', async () => {
    const app = await apps.boot({
      clients: [],
      imports: [LockTestingModule.forRoot()],
      logger: new RecordingLogger(),
    });
    const locks = app.get(LockTesting);
    const election = electionsOf(app).of('mailer');
    const histories = [historyOf(election.state$)];
    await locks.advance(0);
    histories.push(historyOf(election.state$));
    await locks.suspend();
    histories.push(historyOf(election.state$));
    await locks.resume();
    await locks.advance(0);
    await locks.expire();
    await locks.advance(2_000);
    await apps.close(app);
    histories.push(historyOf(election.state$));

    const all = ['follower', 'leader', 'follower', 'leader', 'follower', 'leader', 'closed'];
    expect(await Promise.all(histories)).toEqual([all, all.slice(1), all.slice(2), ['closed']]);
  });
});

describe('The health of a client', () => {
  it('reports the role of the app in each of its elections there, if there are any', async () => {
    const app = await apps.boot({
      clients: [{}, { name: 'other' }],
      imports: [TerminusModule.forRoot({ logger: false })],
      providers: [LockHealthIndicator],
    });
    const health = app.get(LockHealthIndicator);
    const elections = app.get(LeaderElections);
    const check = async (client?: string) =>
      (await health.pingCheck('locks', { client, timeout: PATIENCE })).locks;
    expect(await check()).not.toHaveProperty('elections');

    const rival = clientOf(app).leaderLatch('printer');
    rival.start();
    await rival.awaitLeadership({ wait: PATIENCE });
    elections.of('printer');
    await elections.of('mailer').awaitLeadership({ wait: PATIENCE });
    const states = { printer: 'follower', mailer: 'leader' };
    expect(await check()).toMatchObject({ status: 'up', health: 'up', elections: states });
    expect(await check('other')).not.toHaveProperty('elections');
    const all = await health.pingCheckAll('locks', { timeout: PATIENCE });
    expect(all['locks:default']).toMatchObject({ elections: states });
    expect(all['locks:other']).not.toHaveProperty('elections');

    await clientOf(app).close();
    await new Promise((resolve) =>
      elections.of('mailer').state$.subscribe({ complete: () => resolve(0) }),
    );
    expect(await check()).toMatchObject({ status: 'down', elections: { mailer: 'closed' } });
  });
});
