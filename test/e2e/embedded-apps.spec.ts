import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Test, type TestingModule } from '@nestjs/testing';
import {
  getLockClientToken,
  LeaderElections,
  LeaderOnly,
  LockModule,
  RunOnce,
  WithMutex,
} from '../../lib/index.js';
import { LockTestingModule } from '../../lib/testing/index.js';
import { eventually } from '../support/time.js';
import { clientOf, contention, isFree, Room, useApps } from './support/apps.js';

@Injectable()
class Jobs {
  constructor(private readonly room: Room) {}

  @WithMutex('job')
  async run(): Promise<string> {
    return this.room.stay('done');
  }

  @RunOnce('bill', { atMost: 60_000, occurrence: 3_600_000 })
  async bill(): Promise<string | undefined> {
    return 'billed';
  }

  @LeaderOnly('chair')
  async lead(): Promise<string | undefined> {
    return 'led';
  }
}

describe('Two apps of one process, with embedded locks', () => {
  const apps = useApps();
  const boot = (name?: string, imports: object[] = []) =>
    apps.boot({
      clients: [{ name }],
      imports: imports as never[],
      providers: name === undefined ? [Jobs] : [],
    });

  it('keep each other out', async () => {
    const [one, two] = await Promise.all([boot(), boot()]);
    expect(await apps.held(clientOf(two), 'job', () => one.get(Jobs).run())).toBe('done');
  });

  it('have one leader, and run a job once', async () => {
    const [one, two] = await Promise.all([boot(), boot()]);
    const leaders = () => [one, two].filter((app) => app.get(LeaderElections).of('chair').isLeader);
    await eventually('one leads', () => leaders().length === 1);
    const runs = await Promise.all([one, two].map((app) => app.get(Jobs).lead()));
    expect(runs.filter(Boolean)).toEqual(['led']);
    const bills = [await one.get(Jobs).bill(), await two.get(Jobs).bill()];
    expect(bills).toEqual(['billed', undefined]);
  });

  it('share nothing by clients of two names, nor with an app under test', async () => {
    const [one, other, tested] = await Promise.all([
      boot(),
      boot('other'),
      boot(undefined, [LockTestingModule]),
    ]);
    await using _ = await clientOf(one).mutex('door').acquire();
    expect(await isFree(clientOf(other, 'other').mutex('door'))).toBe(true);
    expect(await isFree(clientOf(tested).mutex('door'))).toBe(true);
    expect(await isFree(clientOf(await boot()).mutex('door'))).toBe(false);
  });

  it('hand over what one of them held when it closes', async () => {
    const [one, two] = await Promise.all([boot(), boot()]);
    await clientOf(one).mutex('door').acquire();
    const waiting = clientOf(two).mutex('door').acquire();
    await apps.close(one);
    expect((await waiting).isHeld).toBe(true);
  });
});

describe('An embedded app under the fake timers of Jest, of which none is left out', () => {
  afterEach(() => void jest.useRealTimers());
  const fake = () => void jest.useFakeTimers({ doNotFake: [] });
  // Without a server, which goes by the `process.nextTick` of the test here, and in other projects by that of Node.
  const boot = async () => {
    const imports = [LockModule.forRoot()];
    const app = await Test.createTestingModule({ imports, providers: [Jobs, Room] }).compile();
    return app.init();
  };
  const twoRuns = async (app: TestingModule) => {
    const contended = contention(app.get(getLockClientToken()));
    const runs = Promise.all([app.get(Jobs).run(), app.get(Jobs).run()]);
    await contended;
    app.get(Room).open();
    return runs;
  };

  it('is granted locks, hands them over and closes where it has booted before', async () => {
    const app = await boot();
    fake();
    expect(await twoRuns(app)).toEqual(['done', 'done']);
    await app.close();
  });

  it('boots, is granted locks, hands them over and closes', async () => {
    fake();
    const app = await boot();
    expect(await twoRuns(app)).toEqual(['done', 'done']);
    await app.close();
  });
});
