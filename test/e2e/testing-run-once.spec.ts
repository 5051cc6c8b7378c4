import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { LockLostError, RunOnce, type LockModuleOptions } from '../../lib/index.js';
import { LockTesting, LockTestingModule } from '../../lib/testing/index.js';
import { Apps } from './support/apps.js';
import { Room } from './support/room.js';

@Injectable()
class Reports {
  runs = 0;

  constructor(private readonly room: Room) {}

  @RunOnce('nightly-report', { atMost: 60_000, atLeast: 10_000 })
  async nightly(): Promise<string | undefined> {
    this.runs += 1;
    return this.room.stay('sent');
  }
}

const onRedis: LockModuleOptions = { backend: 'redis', connect: 'redis://127.0.0.1:1' };

describe.each([
  { backend: 'the embedded backend', options: {} },
  { backend: 'Redis', options: onRedis },
])('@RunOnce in virtual time, on what stands for $backend', ({ options }) => {
  const apps = new Apps();
  let locks: LockTesting;
  let reports: Reports;
  let room: Room;

  beforeEach(async () => {
    const app = await apps.boot({
      imports: [LockTestingModule.forRoot(options)],
      providers: [Reports, Room],
    });
    [locks, reports, room] = [app.get(LockTesting), app.get(Reports), app.get(Room)];
  });
  afterEach(() => apps.close());

  it('skips other calls while it runs, and for `atLeast` from its start', async () => {
    const running = reports.nightly();
    await locks.advance(1_000);
    expect(await reports.nightly()).toBeUndefined();
    room.open();
    expect(await running).toBe('sent');
    await locks.advance(8_999);
    expect(await reports.nightly()).toBeUndefined();
    await locks.advance(1);
    expect(await reports.nightly()).toBe('sent');
    expect(reports.runs).toBe(2);
  });

  it('gives up a run at `atMost`, so that another may begin', async () => {
    const endless = expect(reports.nightly()).rejects.toBeInstanceOf(LockLostError);
    await locks.advance(59_999);
    expect(await reports.nightly()).toBeUndefined();
    await locks.advance(1);
    const second = reports.nightly();
    await locks.advance(0);
    expect(reports.runs).toBe(2);
    room.open();
    await endless;
    expect(await second).toBe('sent');
  });
});
