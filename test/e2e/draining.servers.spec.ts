import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Injectable, type INestApplication } from '@nestjs/common';
import { Interval, ScheduleModule } from '@nestjs/schedule';
import { setTimeout as sleep } from 'node:timers/promises';
import { currentLease, type LockClient, LockTimeoutError, WithMutex } from '../../lib/index.js';
import { Program } from '../faults/support/program.js';
import { useCleanup } from '../support/fixtures.js';
import { eventually } from '../support/time.js';
import { clientOf, errorOf, isFree, Room, useApps } from './support/apps.js';
import { useDeployment } from './support/deployments.js';

/** Length of a job, in ms. With `JOB_MS=5000` the restarts take a minute. */
const JOB_MS = Number(process.env['JOB_MS'] ?? 200);
const RESTARTS = 10;
/** For how long a client keeps its locks without an answer, in ms: longer than a busy machine stands still. */
const TIMEOUTS = { redis: 2_000, 'several redis': 2_000, zookeeper: 4_000 };

jest.setTimeout(60_000 + 4 * RESTARTS * JOB_MS);

/** Runs of the job, in all replicas. */
const runs = { begun: 0, inside: [] as Billing[], together: 0, cut: 0 };

@Injectable()
class Billing {
  @Interval(10)
  tick(): void {
    void this.bill().catch(() => {}); // refused, as its app closes
  }

  @WithMutex('bill', { onBusy: 'skip' })
  async bill(): Promise<void> {
    const { signal } = currentLease()!;
    runs.begun += 1;
    if (runs.inside.push(this) > 1) runs.together += 1;
    await sleep(JOB_MS);
    if (signal.aborted) runs.cut += 1;
    runs.inside = runs.inside.filter((job) => job !== this);
  }
}

@Injectable()
class Hanging {
  constructor(private readonly room: Room) {}

  @WithMutex('bill')
  async bill(): Promise<void> {
    await this.room.stay(undefined);
  }
}

describe.each(['redis', 'several redis', 'zookeeper'] as const)('Replicas on %s', (backend) => {
  const deployment = useDeployment(backend);
  const apps = useApps();
  const cleanup = useCleanup();
  const patience = backend === 'several redis' ? { nodeTimeout: 600 } : {}; // the machine may be busy
  const options = () => ({ ...deployment().options(TIMEOUTS[backend]), ...patience });
  beforeEach(() => void Object.assign(runs, { begun: 0, inside: [], together: 0, cut: 0 }));

  const otherClient = async () => clientOf(await apps.boot({ clients: [options()] }));
  const startStuck = async (more: object = {}) => {
    const url = new URL('programs/stuck-app.ts', import.meta.url);
    const args = { ...options(), drainTimeout: 100, ...more };
    const program = cleanup(new Program(url, [JSON.stringify(args)]), (each) => each.stop());
    return { program, pid: await program.next<number>() };
  };
  const comesFree = (client: LockClient) =>
    eventually('the lock is free', () => isFree(client.mutex('bill')), { within: 30_000 });

  it('never run a job twice at once, nor cut one, over ten restarts of the one that runs it', async () => {
    const start = () => {
      const imports = [ScheduleModule.forRoot()];
      const clients = [deployment().options()]; // a machine that stands still for so long does not cut a job
      return apps.boot({ clients, imports, providers: [Billing] });
    };
    const replicas = await Promise.all([start(), start(), start()]);
    const withJob = (app: INestApplication) => runs.inside.includes(app.get(Billing));
    for (let i = 0; i < RESTARTS; i++) {
      const running = await eventually('a job runs', () => replicas.findIndex(withJob) + 1);
      const [old] = replicas.splice(running - 1, 1);
      const closing = apps.close(old);
      replicas.push(await start());
      await closing;
      expect(withJob(old!)).toBe(false);
    }
    expect(runs.begun).toBeGreaterThanOrEqual(RESTARTS);
    expect([runs.together, runs.cut]).toEqual([0, 0]);
  });

  it('are kept out by a job that hangs in an app that has closed, until it ends', async () => {
    const clients = [{ ...options(), drainTimeout: 50 }];
    const app = await apps.boot({ clients, providers: [Hanging] });
    const job = errorOf(app.get(Hanging).bill());
    await apps.room.entered.promise;
    const other = await otherClient();
    await apps.close(app);

    const wait = 2 * TIMEOUTS[backend]; // the lock was renewed meanwhile, or it would be free
    await expect(other.mutex('bill').acquire({ wait })).rejects.toBeInstanceOf(LockTimeoutError);
    apps.room.open();
    expect(await job).toMatchObject({ code: 'LOCK_LOST' });
    await comesFree(other);
  });

  it('get the lock of a job that hangs at kill -TERM when its lease or session is over', async () => {
    const other = await otherClient();
    const { program, pid } = await startStuck();
    process.kill(pid, 'SIGTERM');
    expect(await program.exited).toMatchObject({ signal: 'SIGTERM', errors: '' });
    expect(await isFree(other.mutex('bill'))).toBe(false);
    await comesFree(other);
  });

  it('end by themselves after a close, whatever hangs', async () => {
    const other = await otherClient();
    const { program } = await startStuck();
    program.tell('close');
    expect(await program.next()).toBe('closed');
    expect(await program.exited).toMatchObject({ signal: null, errors: '' });
    await comesFree(other);
  });
});
