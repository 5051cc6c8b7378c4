import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import {
  LockModule,
  LockOptionsError,
  LockTimeoutError,
  WithMutex,
  type LockModuleOptions,
} from '../../lib/index.js';
import { eventually } from '../support/eventually.js';
import { RedisServer } from '../support/redis-server.js';
import { Apps, clientOf } from './support/apps.js';
import { RecordingLogger } from './support/recording-logger.js';

@Injectable()
class Orders {
  @WithMutex('order:{0}')
  async pay(_id: string): Promise<void> {}
}

const apps = new Apps();
let logger: RecordingLogger;
beforeEach(() => void (logger = new RecordingLogger()));
afterEach(() => apps.close());

const boot = (options: LockModuleOptions) =>
  apps.boot({ imports: [LockModule.forRoot(options)], providers: [Orders] }, (builder) =>
    builder.setLogger(logger),
  );

/** What is logged from now on. */
const linesFromNowOn = () => {
  const { length } = logger.lines;
  return () => logger.lines.slice(length);
};

describe('The log of an app while its lock server goes and comes back', () => {
  let servers: RedisServer[];

  beforeAll(async () => {
    servers = await Promise.all([RedisServer.start(), RedisServer.start(), RedisServer.start()]);
  });
  afterAll(() => Promise.all(servers.map((server) => server.stop())));

  const addressOf = ({ host, port }: RedisServer) => ({
    host,
    port,
    disconnectTimeout: 0,
    retryStrategy: () => 20,
  });

  it('has one line a change, and one for all attempts that fail between two', async () => {
    const [server] = servers as [RedisServer];
    const app = await boot({ backend: 'redis', connect: addressOf(server) });
    const lines = linesFromNowOn();
    const states: string[] = [];
    clientOf(app).on('connection', ({ state }) => states.push(state));

    for (let outage = 1; outage <= 2; outage++) {
      states.length = 0;
      await server.kill();
      await eventually('several attempts have failed', () => states.length >= 5);
      await server.restart();
      await eventually('it is back', () => states.includes('RECONNECTED'));
      await app.get(Orders).pay('7');
    }
    const outage = [
      expect.stringMatching(/^warn: Lock client "default": SUSPENDED \(.+\)$/),
      expect.stringMatching(/^warn: Lock client "default" cannot connect: .+; it goes on trying$/),
      'log: Lock client "default": RECONNECTED (the servers answer)',
    ];
    expect(lines()).toEqual([...outage, ...outage]);
  });

  it('names the server, where there are several', async () => {
    const app = await boot({ backend: 'redis', nodes: servers.map(addressOf) });
    await eventually('all are connected', () => clientOf(app).status().health === 'up');
    const lines = linesFromNowOn();
    let failures = 0;
    clientOf(app).on('connection', () => (failures += 1));

    await servers[1]!.kill();
    await eventually('several attempts have failed', () => failures >= 5);
    await servers[1]!.restart();
    await eventually('it is back', () => clientOf(app).status().health === 'up');
    expect(lines()).toEqual([
      expect.stringMatching(/^warn: .+: SUSPENDED \(server 2 of 3: .+\)$/),
      expect.stringMatching(/^warn: .+ cannot connect: server 2 of 3: .+; it goes on trying$/),
      'log: Lock client "default": RECONNECTED (server 2 of 3: the servers answer)',
    ]);
  });
});

describe('The log of what locks do', () => {
  it('is not there unless it is asked for', async () => {
    const app = await boot({});
    const lines = linesFromNowOn();
    await app.get(Orders).pay('7');
    await app.close();
    expect(lines()).toEqual([]);
  });

  it('names lock and method at the level "verbose"', async () => {
    const app = await boot({ logOperations: true });
    const lines = linesFromNowOn();
    await app.get(Orders).pay('7');
    const mutex = clientOf(app).mutex('order:8');
    const held = await mutex.acquire();
    await expect(mutex.acquire({ wait: 20 })).rejects.toBeInstanceOf(LockTimeoutError);
    await held.release();

    const told = lines().map((line) => line.replaceAll(/\d+\.\d ms/g, '# ms'));
    expect(told).toEqual([
      'verbose: Lock client "default": acquired mutex "order:7" for Orders.pay after # ms',
      'verbose: Lock client "default": released mutex "order:7" for Orders.pay after # ms',
      'verbose: Lock client "default": acquired mutex "order:8" after # ms',
      'verbose: Lock client "default": waits for mutex "order:8"',
      'verbose: Lock client "default": was not granted mutex "order:8" within # ms: LockTimeoutError',
      'verbose: Lock client "default": released mutex "order:8" after # ms',
    ]);
  });

  it('is on or off, and nothing between', async () => {
    const booting = boot({ logOperations: 'no' as unknown as boolean });
    await expect(booting).rejects.toBeInstanceOf(LockOptionsError);
    await expect(booting).rejects.toThrow('`logOperations`');
  });
});
