import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import {
  currentLease,
  LockConnectionError,
  LockModule,
  LockOptionsError,
  ReadLock,
  Semaphore,
  WithMultiLock,
  WithMutex,
} from '../../lib/index.js';
import { RedisServer } from '../support/redis-server.js';
import { Apps, clientOf } from './support/apps.js';
import { expectHeld } from './support/expect-held.js';
import { Room } from './support/room.js';

@Injectable()
class Reports {
  constructor(private readonly room: Room) {}

  @WithMutex('report')
  async write(): Promise<string> {
    return this.room.stay('written');
  }

  @WithMultiLock(['report', 'archive'])
  async file(): Promise<string> {
    return this.room.stay('filed');
  }

  @WithMutex('report', { wait: 200 })
  async number(): Promise<bigint> {
    return currentLease()!.fencingToken();
  }
}

@Injectable()
class Readers {
  @ReadLock('report')
  async read(): Promise<void> {}
}

@Injectable()
class Printers {
  @Semaphore('printers', { permits: 2 })
  async print(): Promise<void> {}
}

describe('An app with locks on several independent Redis servers', () => {
  const apps = new Apps();
  let servers: RedisServer[];
  let room: Room;

  beforeAll(async () => {
    servers = await Promise.all([RedisServer.start(), RedisServer.start(), RedisServer.start()]);
  });
  beforeEach(() => void (room = new Room()));
  afterEach(async () => {
    room.open();
    await apps.close();
  });
  afterAll(() => Promise.all(servers.map((server) => server.stop())));

  const boot = (...providers: (new (...args: never[]) => object)[]) =>
    apps.boot({
      imports: [
        LockModule.forRoot({
          backend: 'redis',
          nodes: servers.map(({ host, port }) => ({ host, port, disconnectTimeout: 0 })),
          watchdogTimeout: 2_000,
          connectTimeout: 10_000,
        }),
      ],
      providers: [...providers, { provide: Room, useValue: room }],
    });

  it.each([
    ['write', 'written'],
    ['file', 'filed'],
  ] as const)('keeps another app out while a method runs (%s)', async (method, result) => {
    const [one, two] = await Promise.all([boot(Reports), boot(Reports)]);
    const reports = one.get(Reports);
    expect(await expectHeld(clientOf(two), 'report', room, () => reports[method]())).toBe(result);
  });

  it.each([
    ['Readers.read', Readers],
    ['Printers.print', Printers],
  ])('does not boot where a method asks for what is not there: %s', async (method, provider) => {
    const booting = boot(provider);
    await expect(booting).rejects.toBeInstanceOf(LockOptionsError);
    await expect(booting).rejects.toThrow(`of ${method}.`);
    await expect(booting).rejects.toThrow('on independent servers there are mutexes only');
  });

  it('runs methods while one server is away, and none while two are', async () => {
    const reports = (await boot(Reports)).get(Reports);
    const before = await reports.number();
    await servers[0]!.kill();
    expect(await reports.number()).toBeGreaterThan(before);
    await servers[1]!.kill();
    await expect(reports.number()).rejects.toBeInstanceOf(LockConnectionError);
    await Promise.all([servers[0]!.restart(), servers[1]!.restart()]);
  });
});
