import { afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { TerminusModule } from '@nestjs/terminus';
import { Redis } from 'ioredis';
import { LockHealthIndicator } from '../../lib/health/index.js';
import {
  getLockClientToken,
  LockConnectionError,
  LockModule,
  type LockClient,
  type LockModuleOptions,
} from '../../lib/index.js';
import { LockInspector, LockInspectorModule } from '../../lib/inspector/index.js';
import { useRedis, useZooKeeper } from '../support/fixtures.js';
import type { RedisServer } from '../support/redis-server.js';
import { eventually } from '../support/time.js';
import { expectNoSecret, FullLogger, printedBy, SECRET, writtenOut } from './support/secrets.js';

/** What the client of a server says and carries when it does not accept the password. */
async function failedBoot(options: object): Promise<{ error: Error; written: string[] }> {
  const logger = new FullLogger();
  let error = new Error('it boots');
  const printed = await printedBy(async () => {
    const given = { backend: 'redis', connectTimeout: 700, ...options } as LockModuleOptions;
    @Module({ imports: [LockModule.forRoot(given)] })
    class App {}
    try {
      const app = await NestFactory.createApplicationContext(App, { logger, abortOnError: false });
      await app.close();
    } catch (failure) {
      error = failure as Error;
    }
  });
  return { error, written: [writtenOut(error), ...logger.lines, ...printed] };
}

/** The ways to give a server and a password. */
const WAYS: [string, (server: RedisServer) => object][] = [
  ['a URL', ({ host, port }) => ({ connect: `redis://:${SECRET}@${host}:${port}` })],
  ['a URL with a user', ({ host, port }) => ({ connect: `redis://me:${SECRET}@${host}:${port}` })],
  ['options', ({ host, port }) => ({ connect: { host, port, password: SECRET } })],
  [
    'options for RESP3',
    ({ host, port }) => ({ connect: { host, port, password: SECRET, protocol: 3 } }),
  ],
  [
    'a client',
    ({ host, port }) => ({
      client: new Redis({ host, port, password: SECRET, lazyConnect: true }),
    }),
  ],
  [
    'a cluster',
    (server) => ({ cluster: { nodes: [server], options: { redisOptions: { password: SECRET } } } }),
  ],
  [
    'independent servers',
    ({ host, port }) => ({
      nodes: [port, port + 1, port + 2].map((each) => `redis://me:${SECRET}@${host}:${each}`),
    }),
  ],
];

describe('A Redis server that refuses the password', () => {
  const server = useRedis();
  beforeAll(async () => {
    const admin = server().client();
    await admin.config('SET', 'requirepass', 'another');
    admin.disconnect();
  });

  it.each(WAYS)('gets it in %s: no error and no line shows it', async (_, options) => {
    const { host, port } = server();
    const { error, written } = await failedBoot(options({ host, port } as RedisServer));
    expect(error).toBeInstanceOf(LockConnectionError);
    expectNoSecret(...written);
  });

  it('is said to refuse it', async () => {
    const { host, port } = server();
    const { error } = await failedBoot({ connect: { host, port, password: SECRET } });
    expect(error.message).toMatch(/(WRONGPASS|NOAUTH).*Check the user and the password/);
  });
});

describe('A Redis server that does not know AUTH, and repeats what it got', () => {
  const server = useRedis({
    config: { 'rename-command AUTH': '""', 'rename-command HELLO': '""' },
  });

  it.each(WAYS.slice(0, 5))('gets it in %s: no error and no line shows it', async (_, options) => {
    const { host, port } = server();
    const { written } = await failedBoot(options({ host, port } as RedisServer));
    expectNoSecret(...written);
  });
});

describe('A ZooKeeper server that does not know the scheme of the credentials', () => {
  const server = useZooKeeper();

  it('gets them: no error and no line shows them', async () => {
    const auth = [{ scheme: 'no-such-scheme', auth: `me:${SECRET}` }];
    const acl = [{ perms: 31, scheme: 'digest', id: `me:${SECRET}` }];
    const connect = `127.0.0.1:${server().port}`;
    const { error, written } = await failedBoot({ backend: 'zookeeper', connect, auth, acl });
    expect(error).toBeInstanceOf(LockConnectionError);
    expectNoSecret(...written);
  });
});

describe('An app whose Redis server changes its password', () => {
  const server = useRedis();
  let admin: Redis;

  beforeEach(() => {
    admin = server().client();
  });

  afterEach(async () => {
    await admin.config('SET', 'requirepass', '');
    admin.disconnect();
  });

  it('shows the old one nowhere: errors, events, health, inspector', async () => {
    @Injectable()
    class Written {
      readonly events: unknown[] = [];
    }
    const { host, port } = server();
    await admin.config('SET', 'requirepass', SECRET);
    const logger = new FullLogger();
    const printed = await printedBy(async () => {
      @Module({
        imports: [
          TerminusModule.forRoot({ logger: false }),
          LockModule.forRoot({ backend: 'redis', connect: `redis://:${SECRET}@${host}:${port}` }),
          LockInspectorModule.forRoot(),
        ],
        providers: [LockHealthIndicator, Written],
      })
      class App {}
      const app = await NestFactory.createApplicationContext(App, { logger });
      const { events } = app.get(Written);
      const client = app.get<LockClient>(getLockClientToken());
      for (const event of ['connection', 'failed', 'lost'] as const)
        client.on(event, (value) => events.push(value));
      await admin.config('SET', 'requirepass', 'another');
      await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      const isRefused = () => events.some((event) => /WRONGPASS|NOAUTH/.test(writtenOut(event)));
      await eventually('it is refused', isRefused);
      const waiting = client.mutex('a').acquire({ wait: 100 });
      events.push(await waiting.catch((error: unknown) => error));
      events.push(await client.ping(100).catch((error: unknown) => error));
      events.push(await app.get(LockHealthIndicator).pingCheck('locks'));
      events.push(await app.get(LockInspector).snapshot());
      events.push(client.status(), client.activity());
      expectNoSecret(...events.map(writtenOut));
      await app.close();
    });
    expectNoSecret(...logger.lines, ...printed);
  });
});
