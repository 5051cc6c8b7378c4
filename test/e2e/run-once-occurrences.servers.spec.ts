import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable, type INestApplication, type Type } from '@nestjs/common';
import { LockLostError, RunOnce } from '../../lib/index.js';
import { seededRandom } from '../support/seeded-random.js';
import { Room, useApps } from './support/apps.js';
import { type Backend, useDeployment } from './support/deployments.js';

const PERIOD = 1_000;
/** By how much the clocks of the replicas differ from the true time. */
const CLOCKS = [3_000, 0, -3_000, 40];

interface Job {
  /** The occurrences that it has run. */
  readonly runs: number[];
  run(): Promise<string | undefined>;
  fail(): Promise<void>;
  stay(): Promise<string | undefined>;
}

/** The job of one replica, whose clock the test sets. */
function jobBy(clock: { time: number }, name: string): Type<Job> {
  const occurrence = () => Math.floor(clock.time / PERIOD) * PERIOD;

  @Injectable()
  class ReplicatedJob implements Job {
    readonly runs: number[] = [];

    constructor(private readonly room: Room) {}

    @RunOnce(name, { atMost: 60_000, occurrence })
    async run(): Promise<string | undefined> {
      this.runs.push(occurrence());
      return 'done';
    }

    @RunOnce(`failing ${name}`, { atMost: 60_000, occurrence })
    async fail(): Promise<void> {
      this.runs.push(occurrence());
      throw new RangeError('no data');
    }

    @RunOnce(`long ${name}`, { atMost: 60_000, occurrence })
    async stay(): Promise<string | undefined> {
      this.runs.push(occurrence());
      return this.room.stay('done');
    }
  }
  return ReplicatedJob;
}

const backends: Backend[] = ['embedded', 'zookeeper', 'redis', 'several redis'];

describe.each(backends)('An occurrence of a @RunOnce job (%s)', (backend) => {
  const deployment = useDeployment(backend);
  const apps = useApps();
  let start: number;
  let clocks: { time: number }[];
  let replicas: Job[];
  let nests: INestApplication[];

  beforeEach(async () => {
    const name = randomUUID(); // the marks of the test before are still there
    start = Math.floor(Date.now() / PERIOD) * PERIOD - 60_000;
    clocks = CLOCKS.map(() => ({ time: start }));
    const jobs = clocks.map((clock) => jobBy(clock, name));
    const patience = backend === 'several redis' ? { nodeTimeout: 5_000 } : {}; // the machine may be busy
    const boot = (providers: Type<Job>[]) =>
      apps.boot({
        clients: [{ ...deployment().options(), ...patience, drainTimeout: 50 }],
        providers,
      });
    // The embedded backend has the callers of one app only.
    nests = await (backend === 'embedded'
      ? Promise.all([boot(jobs)])
      : Promise.all(jobs.map((job) => boot([job]))));
    replicas = jobs.map((job, i) => (nests[i] ?? nests[0]!).get(job));
  });

  const runs = () => replicas.flatMap((it) => it.runs);

  it('runs once, and none is left out by the first clock, where clocks differ by 3 s and `atLeast` is 0', async () => {
    const random = seededRandom(4);
    const ticks = 12;
    // Each replica is called at each tick of its clock, a little late; the calls come in the order of the true time.
    const calls = CLOCKS.flatMap((offset, i) =>
      Array.from({ length: ticks }, (_, tick) => {
        const local = start + tick * PERIOD + random() * 100;
        return { i, local, true: local - offset };
      }),
    ).toSorted((a, b) => a.true - b.true);
    for (const { i, local } of calls) {
      clocks[i]!.time = local;
      await replicas[i]!.run();
    }
    const expected = Array.from({ length: ticks }, (_, tick) => start + tick * PERIOD);
    expect(runs().toSorted((a, b) => a - b)).toEqual(expected);
  });

  it('runs once where all replicas are called at the same time', async () => {
    for (let tick = 0; tick < 5; tick++) {
      for (const clock of clocks) clock.time = start + tick * PERIOD;
      const results = await Promise.all(replicas.map((it) => it.run()));
      expect(results.filter((it) => it === 'done').length).toBeLessThanOrEqual(1);
      const more = [];
      for (const it of replicas) more.push(await it.run());
      const all = [...results, ...more].filter((it) => it === 'done');
      expect(all.length).toBe(1);
    }
  });

  it('is not repeated where its run failed', async () => {
    await expect(replicas[0]!.fail()).rejects.toBeInstanceOf(RangeError);
    await replicas[1]!.fail();
    await replicas[0]!.fail();
    expect(runs()).toEqual([start]);
  });

  if (backend === 'embedded') return;

  it('is not repeated where its replica has gone in mid-run', async () => {
    const outcome = expect(replicas[0]!.stay()).rejects.toBeInstanceOf(LockLostError);
    await apps.room.entered.promise;
    await apps.close(nests[0]);
    apps.room.open();
    await outcome;
    expect(await replicas[1]!.stay()).toBeUndefined();
    clocks[1]!.time += PERIOD;
    expect(await replicas[1]!.stay()).toBe('done');
  });
});
