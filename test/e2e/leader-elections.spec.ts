import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable, type INestApplication, type OnModuleInit } from '@nestjs/common';
import { toArray, type Observable } from 'rxjs';
import {
  LeaderElections,
  LockClientClosedError,
  LockClientUnknownError,
  LockKeyError,
  LockModule,
  LockTimeoutError,
  type LeaderElection,
  type LockModuleOptions,
} from '../../lib/index.js';
import { LockTesting, LockTestingModule } from '../../lib/testing/index.js';
import { IndependentRedisServers } from '../support/independent-redis-servers.js';
import { RedisServer } from '../support/redis-server.js';
import { ZooKeeperServer } from '../support/zookeeper-server.js';
import { Apps, clientOf } from './support/apps.js';
import { RecordingLogger } from './support/recording-logger.js';

const apps = new Apps();
afterEach(() => apps.close());

const electionsOf = (app: INestApplication) => app.get(LeaderElections);
const historyOf = <T>(values: Observable<T>) =>
  new Promise<T[]>((resolve, reject) =>
    values.pipe(toArray()).subscribe({ next: resolve, error: reject }),
  );

describe('LeaderElections', () => {
  const boot = (...clients: LockModuleOptions[]) =>
    apps.boot({ imports: [{}, ...clients].map((options) => LockModule.forRoot(options)) });

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
    const leadership = await election.awaitLeadership({ wait: 20_000 });
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
    await apps.boot({ imports: [LockModule.forRoot()], providers: [Early] });
    expect(seen).toEqual(['follower', expect.any(LockTimeoutError)]);
    await early!.awaitLeadership({ wait: 20_000 });
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
    const app = await apps.boot({ providers: [Postman], imports: [LockModule.forRoot()] });
    const { election, states } = app.get(Postman);
    expect(electionsOf(app).of('mailer')).toBe(election);
    await election.awaitLeadership({ wait: 20_000 });
    expect(states).toEqual(['follower', 'leader']);

    const complaints: unknown[] = [];

    @Injectable()
    class Lost {
      constructor(elections: LeaderElections) {
        elections.of('mailer', { client: 'archive' });
      }
    }
    const booting = apps.boot({ providers: [Lost], imports: [LockModule.forRoot()] }, (builder) =>
      builder.setLogger(
        Object.assign(new RecordingLogger(), {
          error: (complaint: unknown) => complaints.push(complaint),
        }),
      ),
    );
    await expect(booting).rejects.toBeInstanceOf(LockClientUnknownError);
    await apps.close(); // what of it was made ends without a complaint
    expect(complaints).toEqual([]);
  });

  it('leaves all of them when the app shuts down, those that are asked for later too', async () => {
    const app = await boot();
    const elections = electionsOf(app);
    const election = elections.of('mailer');
    await election.awaitLeadership({ wait: 20_000 });
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
    const app = await apps.boot({ imports: [LockTestingModule.forRoot()] }, (builder) =>
      builder.setLogger(new RecordingLogger()),
    );
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

describe.each(['embedded', 'zookeeper', 'redis', 'several redis'] as const)(
  'state$ of an election (%s)',
  (backend) => {
    let server: ZooKeeperServer | RedisServer | undefined;
    let servers: IndependentRedisServers | undefined;
    const options = (): LockModuleOptions => {
      if (servers) return { backend: 'redis', nodes: servers.nodes };
      if (server instanceof RedisServer) return { backend: 'redis', connect: server.url };
      if (server) return { backend: 'zookeeper', connect: server.connectString };
      return {};
    };

    beforeAll(async () => {
      if (backend === 'zookeeper') server = await ZooKeeperServer.start();
      if (backend === 'redis') server = await RedisServer.start();
      if (backend === 'several redis') servers = await IndependentRedisServers.start(3);
    }, 60_000);
    afterAll(async () => {
      await server?.stop();
      await servers?.stop();
    });

    it.each(['leader', 'follower'] as const)(
      'completes when the client of a %s is closed by hand',
      async (role) => {
        const app = await apps.boot({ imports: [LockModule.forRoot(options())] });
        const client = clientOf(app);
        const rival = client.leaderLatch('mailer');
        if (role === 'follower') {
          rival.start();
          await rival.awaitLeadership({ wait: 20_000 });
        }
        const election = electionsOf(app).of('mailer');
        const history = historyOf(election.state$);
        if (role === 'leader') await election.awaitLeadership({ wait: 20_000 });
        await client.close();
        const told = await history;
        expect(told.filter((state) => state !== 'follower')).toEqual(
          role === 'leader' ? ['leader', 'closed'] : ['closed'],
        );
        expect(election.state).toBe('closed');
      },
    );
  },
);
