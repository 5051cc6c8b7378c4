import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { LockModule } from '../../lib/index.js';
import { freePorts } from '../support/free-ports.js';
import { RedisServer } from '../support/redis-server.js';
import { Apps } from './support/apps.js';
import { noMoreHandlesThan, openHandles } from './support/open-handles.js';
import { RecordingLogger } from './support/recording-logger.js';

const apps = new Apps();
afterEach(() => apps.close());

describe('An app with locks on Redis', () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());

  it('logs that it is connected, and not that it locks in this process only', async () => {
    const logger = new RecordingLogger();
    await apps.boot(
      { imports: [LockModule.forRoot({ backend: 'redis', connect: server.url })] },
      (builder) => builder.setLogger(logger),
    );
    expect(logger.lines).toEqual(['log: Lock client "default": CONNECTED (the servers answer)']);
  });

  it('warns once of the attempts that fail when no server is there, then fails to boot and leaves nothing open', async () => {
    const before = openHandles();
    const [port] = await freePorts(1, '127.0.0.1');
    const logger = new RecordingLogger();
    const connect = { host: '127.0.0.1', port, disconnectTimeout: 0 };
    const booting = apps.boot(
      { imports: [LockModule.forRoot({ backend: 'redis', connect, connectTimeout: 500 })] },
      (builder) => builder.setLogger(logger),
    );

    await expect(booting).rejects.toThrow(
      /^Lock client "default" could not connect to Redis within 500 ms \(.*ECONNREFUSED.*\)\. Check/,
    );
    expect(logger.lines).toEqual([
      expect.stringMatching(/^warn: Lock client "default": SUSPENDED \(.*ECONNREFUSED.*\)$/),
      expect.stringMatching(/^warn: Lock client "default" cannot connect: .*; it goes on trying$/),
    ]);
    await noMoreHandlesThan(before);
  });
});
