import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, type INestApplication } from '@nestjs/common';
import request from 'supertest';
import {
  LeaderElections,
  LeaderOnly,
  LockModule,
  LockTimeoutError,
  OnLeadership,
  OnLeadershipLost,
  type LeaderElectionState,
  type LockLostError,
  type LockModuleOptions,
} from '../../lib/index.js';
import { eventually } from '../support/eventually.js';
import { IndependentRedisServers } from '../support/independent-redis-servers.js';
import { RedisServer } from '../support/redis-server.js';
import { ZooKeeperServer } from '../support/zookeeper-server.js';
import { Apps } from './support/apps.js';
import { RecordingLogger } from './support/recording-logger.js';
import { Room } from './support/room.js';

/** No stall of this machine takes so long, in ms. */
const PATIENCE = 20_000;

@Controller('mails')
class Mailer {
  readonly log: string[] = [];

  constructor(private readonly room: Room) {}

  @LeaderOnly('mailer')
  async send(): Promise<string | undefined> {
    return 'sent';
  }

  @Get()
  @LeaderOnly('mailer')
  async sendSlowly(): Promise<string | undefined> {
    return this.room.stay('sent');
  }

  @OnLeadership('mailer')
  begin() {
    this.log.push('begin');
  }

  @OnLeadershipLost('mailer')
  end(reason?: LockLostError) {
    this.log.push(`end: ${reason?.code}`);
  }
}

describe.each(['zookeeper', 'redis', 'several redis'] as const)('Two apps (%s)', (backend) => {
  const apps = new Apps();
  let server: ZooKeeperServer | RedisServer | undefined;
  let servers: IndependentRedisServers | undefined;
  let options: LockModuleOptions;
  let room: Room;
  let leader: INestApplication;
  let follower: INestApplication;

  beforeAll(async () => {
    if (backend === 'zookeeper') server = await ZooKeeperServer.start();
    if (backend === 'redis') server = await RedisServer.start();
    if (backend === 'several redis') servers = await IndependentRedisServers.start(3);
    options = servers
      ? { backend: 'redis', nodes: servers.nodes }
      : backend === 'redis'
        ? { backend: 'redis', connect: (server as RedisServer).url }
        : { backend: 'zookeeper', connect: (server as ZooKeeperServer).connectString };
  }, 60_000);
  afterAll(async () => {
    await server?.stop();
    await servers?.stop();
  });

  beforeEach(async () => {
    room = new Room();
    leader = await boot();
    await electionOf(leader).awaitLeadership({ wait: PATIENCE });
    follower = await boot();
  });
  afterEach(async () => {
    room.open();
    await apps.close();
  });

  async function boot(): Promise<INestApplication> {
    const app = await apps.boot(
      {
        imports: [LockModule.forRoot(options)],
        controllers: [Mailer],
        providers: [{ provide: Room, useValue: room }],
      },
      (builder) => builder.setLogger(new RecordingLogger()),
    );
    await app.listen(0, '127.0.0.1');
    return app;
  }
  const electionOf = (app: INestApplication) => app.get(LeaderElections).of('mailer');
  const statesOf = (app: INestApplication) => {
    const states: LeaderElectionState[] = [];
    electionOf(app).state$.subscribe((state) => states.push(state));
    return states;
  };

  it('have one leader, the only one that runs, and report the participants', async () => {
    const [one, two] = [leader.get(Mailer), follower.get(Mailer)];
    for (let i = 0; i < 3; i++)
      expect(await Promise.all([one.send(), two.send()])).toEqual(['sent', undefined]);
    expect([electionOf(leader).state, electionOf(follower).state]).toEqual(['leader', 'follower']);
    expect([one.log, two.log]).toEqual([['begin'], []]);
    const all = backend === 'zookeeper' ? 2 : 1; // on Redis the leader only
    await eventually('all are known', async () => {
      const participants = await electionOf(follower).participants();
      return participants.length === all && participants[0]!.isLeader;
    });
  });

  it('hand over as soon as the leader is closed', async () => {
    const states = [statesOf(leader), statesOf(follower)];
    await apps.close(leader);
    await electionOf(follower).awaitLeadership({ wait: PATIENCE });
    expect(await follower.get(Mailer).send()).toBe('sent');
    expect(await leader.get(Mailer).send()).toBeUndefined();
    await apps.close(follower);
    expect(states).toEqual([
      ['leader', 'closed'],
      ['follower', 'leader', 'closed'],
    ]);
    for (const app of [leader, follower])
      expect(app.get(Mailer).log).toEqual(['begin', 'end: undefined']);
  });

  it('hand over when a request under way has ended, not before', async () => {
    electionOf(follower).state$.subscribe((state) => room.log.push(state));
    const response = request(leader.getHttpServer()).get('/mails').then();
    await room.entered.promise;
    const closing = apps.close(leader);
    await eventually('it has left', () => electionOf(leader).state === 'closed');
    const tooEarly = electionOf(follower).awaitLeadership({ wait: 300 });
    await expect(tooEarly).rejects.toBeInstanceOf(LockTimeoutError);
    room.open();
    expect((await response).text).toBe('sent');
    await electionOf(follower).awaitLeadership({ wait: PATIENCE });
    await closing;
    expect(room.log).toEqual(['follower', 'left', 'leader']);
  });

  it('ask no server for a call', async () => {
    const all = servers ? servers.all : [server!];
    for (const each of all) each.freeze();
    try {
      expect(await follower.get(Mailer).send()).toBeUndefined();
      expect(await leader.get(Mailer).send()).toBe('sent');
    } finally {
      for (const each of all) each.thaw();
    }
  });
});
