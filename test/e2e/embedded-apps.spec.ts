import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { LeaderElections, LeaderOnly, RunOnce, WithMutex } from '../../lib/index.js';
import { LockTestingModule } from '../../lib/testing/index.js';
import { eventually } from '../support/time.js';
import { clientOf, isFree, Room, useApps } from './support/apps.js';

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
