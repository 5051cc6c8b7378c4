import { beforeEach, describe, expect, it } from '@jest/globals';
import { Controller, Get, type INestApplication } from '@nestjs/common';
import { lastValueFrom, toArray } from 'rxjs';
import request from 'supertest';
import {
  LeaderElections,
  LeaderOnly,
  LockTimeoutError,
  OnLeadership,
  OnLeadershipLost,
  type LeaderElectionState,
  type LockLostError,
} from '../../lib/index.js';
import { eventually } from '../support/time.js';
import { clientOf, RecordingLogger, Room, useApps } from './support/apps.js';
import { useDeployment } from './support/deployments.js';

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

const electionOf = (app: INestApplication) => app.get(LeaderElections).of('mailer');
const leads = (app: INestApplication) => electionOf(app).awaitLeadership({ wait: PATIENCE });
const statesOf = (app: INestApplication) => {
  const states: LeaderElectionState[] = [];
  electionOf(app).state$.subscribe((state) => states.push(state));
  return states;
};

describe.each(['zookeeper', 'redis', 'several redis'] as const)('Two apps (%s)', (backend) => {
  const deployment = useDeployment(backend);
  const apps = useApps();
  let leader: INestApplication;
  let follower: INestApplication;
  const boot = () =>
    apps.serve({
      clients: [deployment().options()],
      controllers: [Mailer],
      logger: new RecordingLogger(),
    });

  beforeEach(async () => {
    leader = await boot();
    await leads(leader);
    follower = await boot();
  });

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
    await leads(follower);
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
    const { room } = apps;
    electionOf(follower).state$.subscribe((state) => room.log.push(state));
    const response = request(leader.getHttpServer()).get('/mails').then();
    await room.entered.promise;
    const closing = apps.close(leader);
    await eventually('it has left', () => electionOf(leader).state === 'closed');
    const tooEarly = electionOf(follower).awaitLeadership({ wait: 300 });
    await expect(tooEarly).rejects.toBeInstanceOf(LockTimeoutError);
    room.open();
    expect((await response).text).toBe('sent');
    await leads(follower);
    await closing;
    expect(room.log).toEqual(['follower', 'left', 'leader']);
  });

  it('ask no server for a call', async () => {
    deployment().freeze();
    try {
      expect(await follower.get(Mailer).send()).toBeUndefined();
      expect(await leader.get(Mailer).send()).toBe('sent');
    } finally {
      deployment().thaw();
    }
  });
});

describe.each(['embedded', 'zookeeper', 'redis', 'several redis'] as const)(
  'state$ of an election (%s)',
  (backend) => {
    const deployment = useDeployment(backend);
    const apps = useApps();

    it.each(['leader', 'follower'] as const)(
      'completes when the client of a %s is closed by hand',
      async (role) => {
        const app = await apps.boot({ clients: [deployment().options()] });
        const client = clientOf(app);
        const rival = client.leaderLatch('mailer');
        if (role === 'follower') {
          rival.start();
          await rival.awaitLeadership({ wait: PATIENCE });
        }
        const history = lastValueFrom(electionOf(app).state$.pipe(toArray()));
        if (role === 'leader') await leads(app);
        await client.close();
        const told = await history;
        expect(told.filter((state) => state !== 'follower')).toEqual(
          role === 'leader' ? ['leader', 'closed'] : ['closed'],
        );
        expect(electionOf(app).state).toBe('closed');
      },
    );
  },
);
