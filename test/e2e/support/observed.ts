import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterEach, beforeEach, expect } from '@jest/globals';
import { Controller, Get, Injectable, Module, type INestApplication } from '@nestjs/common';
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import request from 'supertest';
import { LockHealthIndicator } from '../../../lib/health/index.js';
import { WithMutex, type LeaderLatch } from '../../../lib/index.js';
import { eventually } from '../../support/time.js';
import { clientOf, Room } from './apps.js';

/** No stall of this machine takes so long, in ms. */
const PATIENCE = 20_000;

@Controller('health')
class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly locks: LockHealthIndicator,
  ) {}

  @Get()
  @HealthCheck()
  check() {
    return this.health.check([() => this.locks.pingCheck('locks', { timeout: PATIENCE })]);
  }

  @Get('strict')
  @HealthCheck()
  checkStrictly() {
    const options = { timeout: PATIENCE, failOn: 'degraded' } as const;
    return this.health.check([() => this.locks.pingCheck('locks', options)]);
  }

  @Get('impatient')
  @HealthCheck()
  checkImpatiently() {
    return this.health.check([() => this.locks.pingCheck('locks', { timeout: 200 })]);
  }

  @Get('all')
  @HealthCheck()
  checkAll() {
    return this.health.check([() => this.locks.pingCheckAll('locks', { timeout: PATIENCE })]);
  }
}

/** Reports the health of the locks of an app at `/health`, in several ways. */
@Module({
  imports: [TerminusModule.forRoot({ logger: false })],
  controllers: [HealthController],
  providers: [LockHealthIndicator],
})
export class HealthModule {}

/** Asks such an app for its health: the status, and what is reported of the lock client. */
export async function healthOf(app: INestApplication, path = '') {
  const { status, body } = await request(app.getHttpServer()).get(`/health${path}`);
  return { status, locks: body.details.locks, details: body.details, error: body.error };
}

const KINDS = ['acquired', 'contended', 'released', 'lost', 'failed', 'connection'] as const;

interface Message {
  kind: string;
  key?: string;
  participant?: string;
  state?: string;
  server?: number;
}

/** What each test hears on the diagnostics channels. */
export function useChannels(): Message[] {
  const messages: Message[] = [];
  const listeners = KINDS.map((kind) => ({
    channel: `nestjs-interlock:${kind}`,
    listener: (message: unknown) => void messages.push({ kind, ...(message as object) }),
  }));
  beforeEach(() => {
    messages.length = 0;
    for (const { channel, listener } of listeners) subscribe(channel, listener);
  });
  afterEach(() => {
    for (const { channel, listener } of listeners) unsubscribe(channel, listener);
  });
  return messages;
}

@Injectable()
export class Orders {
  constructor(private readonly room: Room) {}

  @WithMutex('order:{0}', { client: 'orders' })
  async pay(_id: string): Promise<string> {
    return this.room.stay('paid');
  }
}

/** Holds an election with the client `orders` of that app; expects each step of it among the messages, with the ids. */
export async function expectElectionIn(messages: Message[], app: INestApplication): Promise<void> {
  const client = clientOf(app, 'orders');
  const ofCron = () => messages.filter(({ key }) => key === 'cron');
  const [first, second] = ['web-1', 'web-2'].map((id) => {
    return client.leaderLatch('cron', { id });
  }) as [LeaderLatch, LeaderLatch];
  const story = () => ofCron().map(({ kind, participant }) => [kind, participant]);
  first.start();
  await first.awaitLeadership();
  second.start();
  await eventually('the other follows', () => story().length === 2);
  await first.close();
  await second.awaitLeadership();
  await second.close();
  await eventually('all events are reported', () => story().length === 5);

  expect(story().slice(0, 2)).toEqual([
    ['acquired', 'web-1'],
    ['contended', 'web-2'],
  ]);
  expect(story()).toContainEqual(['released', 'web-1']); // reported when the server has answered
  expect(story()).toContainEqual(['acquired', 'web-2']);
  expect(story().at(-1)).toEqual(['released', 'web-2']);
  const about = { client: 'orders', recipe: 'leaderLatch' };
  for (const message of ofCron()) {
    expect(message).toMatchObject(about);
    expect(message).not.toHaveProperty('method');
  }
}
