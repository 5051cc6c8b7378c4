import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { LeaderElections, LockLostError, type LeaderElection } from '../../lib/index.js';
import { LockTesting, LockTestingModule } from '../../lib/testing/index.js';
import { Apps } from './support/apps.js';
import { Mailer } from './support/mailer.js';
import { RecordingLogger } from './support/recording-logger.js';
import { Room } from './support/room.js';

const apps = new Apps();
afterEach(() => apps.close());

describe('@LeaderOnly in virtual time', () => {
  let app: INestApplication;
  let locks: LockTesting;
  let election: LeaderElection;
  let mailer: Mailer;
  let room: Room;

  beforeEach(async () => {
    app = await apps.boot(
      { imports: [LockTestingModule.forRoot()], providers: [Mailer, Room] },
      (builder) => builder.setLogger(new RecordingLogger()),
    );
    Mailer.lost = [];
    [locks, mailer, room] = [app.get(LockTesting), app.get(Mailer), app.get(Room)];
    election = app.get(LeaderElections).of('mailer');
    await locks.advance(0);
  });
  afterEach(() => room.open());

  const accidents = {
    suspend: () => locks.suspend(),
    expire: () => locks.expire(),
    loseLease: () => locks.loseLease('mailer'),
  };
  const ACCIDENTS = Object.keys(accidents) as (keyof typeof accidents)[];

  it.each(ACCIDENTS)('rejects a run when its leadership is lost by %s', async (accident) => {
    expect(election.isLeader).toBe(true);
    const call = expect(mailer.throwing()).rejects.toBeInstanceOf(LockLostError);
    await room.entered.promise;
    await accidents[accident]();
    expect(mailer.lease!.signal.aborted).toBe(true);
    room.open();
    await call;
  });

  it('rejects at once with `abort`, settles as the method does with `ignore`, and calls a function', async () => {
    const aborted = expect(mailer.aborting()).rejects.toBeInstanceOf(LockLostError);
    const others = [mailer.ignoring(), mailer.told('Ann')];
    await room.entered.promise;
    await locks.loseLease('mailer');
    await aborted;
    expect(Mailer.lost).toEqual([['LOCK_LOST', 'Ann']]);
    room.open();
    expect(await Promise.all(others)).toEqual(['sent', 'sent']);
  });

  it('skips while the connection is interrupted, and runs again afterwards', async () => {
    await locks.suspend();
    expect(election.state).toBe('follower');
    expect(await mailer.send('Ann')).toBeUndefined();
    await locks.resume();
    await locks.advance(0);
    expect(election.state).toBe('leader');
    expect(await mailer.send('Ann')).toBe('sent to Ann');
  });

  it.each(['expire', 'loseLease'] as const)('leads again after %s', async (accident) => {
    await accidents[accident]();
    await locks.advance(2_000);
    expect(election.state).toBe('leader');
    expect(await mailer.send('Ann')).toBe('sent to Ann');
  });
});
