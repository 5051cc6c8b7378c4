import { beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable, type INestApplication } from '@nestjs/common';
import {
  currentLease,
  LockDefaults,
  LockLostError,
  RunOnce,
  type Lease,
} from '../../../lib/index.js';
import { eventually } from '../../support/time.js';
import { clientOf, isFree, RecordingLogger, Room, useApps } from './apps.js';
import { useDeployment, type Backend } from './deployments.js';

/** Longer than a busy machine stands still. */
const AT_LEAST = 1_000;
const AT_MOST = 60_000;
/** Longer than a grant takes on a busy machine: one that comes later runs nothing. */
const BRIEF = 500;

@Injectable()
@LockDefaults({ wait: 'forever', onLost: 'ignore' }) // which are not for runs
class Reports {
  /** When each run began. */
  readonly runs: number[] = [];
  lease?: Lease;

  constructor(private readonly room: Room) {}

  @RunOnce('slow', { atMost: AT_MOST })
  async slow(): Promise<string | undefined> {
    return this.#run(() => this.room.stay('written'));
  }

  @RunOnce('quick', { atMost: AT_MOST, atLeast: AT_LEAST })
  async quick(): Promise<string | undefined> {
    return this.#run(() => 'written');
  }

  @RunOnce('slow and quick', { atMost: AT_MOST, atLeast: AT_LEAST })
  async slowAndQuick(): Promise<string | undefined> {
    return this.#run(() => this.room.stay('written'));
  }

  @RunOnce('brief', { atMost: AT_MOST, atLeast: BRIEF })
  async brief(): Promise<string | undefined> {
    return this.#run(() => this.room.stay('written'));
  }

  @RunOnce('failing', { atMost: AT_MOST, atLeast: AT_LEAST })
  async failing(error: Error): Promise<void> {
    await this.#run(() => Promise.reject(error));
  }

  @RunOnce('hanging', { atMost: 100 })
  async hanging(): Promise<string | undefined> {
    return this.#run(() => this.room.stay('written'));
  }

  @RunOnce('report:{0}', { atMost: AT_MOST })
  async one(_id: string): Promise<string | undefined> {
    return this.#run(() => this.room.stay('written'));
  }

  @RunOnce('nested', { atMost: AT_MOST })
  async nested(): Promise<string[] | undefined> {
    return ['outer', String(await this.nested())];
  }

  async #run<T>(work: () => Promise<T> | T): Promise<T> {
    this.runs.push(performance.now());
    this.lease = currentLease();
    return work();
  }
}

/** A job on one replica, for a least and a most time. */
export function runOnceSuite(backend: Backend): void {
  describe(`@RunOnce (${backend})`, () => {
    const deployment = useDeployment(backend);
    const apps = useApps();
    let logger: RecordingLogger;
    let app: INestApplication;
    let reports: Reports;
    let others: Reports;

    beforeEach(async () => {
      await deployment().wipe(); // what was kept by the test before
      logger = new RecordingLogger();
      app = await boot();
      reports = app.get(Reports);
      // The embedded backend excludes only callers of its own app.
      others = backend === 'embedded' ? reports : (await boot()).get(Reports);
    });

    const options = () => ({ ...deployment().options(), drainTimeout: 50 });
    const boot = () => apps.boot({ clients: [options()], providers: [Reports], logger });
    const runs = () => [...new Set([...reports.runs, ...others.runs])];
    const mayRun = (name: string) => isFree(clientOf(app).semaphoreMutex(name));

    it('runs a method once, and skips it at once where it runs already', async () => {
      const call = reports.slow();
      await apps.room.entered.promise;
      expect(await others.slow()).toBeUndefined();
      expect(await reports.slow()).toBeUndefined();
      apps.room.open();
      expect(await call).toBe('written');
      expect(await others.slow()).toBe('written');
      expect(runs().length).toBe(2);
    });

    it('keeps names apart that are made of arguments', async () => {
      const call = reports.one('sales');
      await apps.room.entered.promise;
      expect(await others.one('sales')).toBeUndefined();
      apps.room.open();
      expect(await others.one('stock')).toBe('written');
      expect(await call).toBe('written');
    });

    it('skips a run inside of a run', async () => {
      expect(await reports.nested()).toEqual(['outer', 'undefined']);
    });

    it('settles at once, and keeps the others out for `atLeast`', async () => {
      expect(await reports.quick()).toBe('written');
      expect(await others.quick()).toBeUndefined();
      await eventually('it may run again', () => others.quick());
      const [first, second] = runs();
      expect(second! - first!).toBeGreaterThanOrEqual(AT_LEAST - 100); // which begins with the grant, before the run
    });

    it('keeps the others out for `atLeast` although the method has failed', async () => {
      const error = new RangeError('no data');
      await expect(reports.failing(error)).rejects.toBe(error);
      expect(await others.failing(error)).toBeUndefined();
    });

    it('lets the others run at once where the method took longer than `atLeast`', async () => {
      const call = reports.brief();
      await apps.room.entered.promise;
      await eventually('it has taken so long', () => performance.now() - runs()[0]! > BRIEF);
      apps.room.open();
      await call;
      expect(await mayRun('brief')).toBe(true);
    });

    it('gives the lock up after `atMost`, with a warning, aborts the signal of the method, and rejects the call', async () => {
      const call = reports.hanging();
      await apps.room.entered.promise;
      const { signal } = reports.lease!;
      await eventually('its signal aborts', () => signal.aborted);
      expect(signal.reason).toBeInstanceOf(LockLostError);
      await eventually('others may run', () => mayRun('hanging'));
      expect(logger.lines).toContainEqual(
        expect.stringMatching(
          /^warn: Reports\.hanging is still running, .* it was held for its `atMost` of 100 ms/,
        ),
      );
      apps.room.open();
      await expect(call).rejects.toBe(signal.reason);
      expect(apps.room.log).toEqual(['left']);
    });

    if (backend === 'redis')
      it('does not run later, nor skip silently, where the server does not answer', async () => {
        deployment().freeze();
        await expect(reports.slow()).rejects.toMatchObject({
          code: 'LOCK_TIMEOUT',
          waitedMs: 5_000,
        });
        deployment().thaw();
        await eventually('no call excludes the others', () => mayRun('slow'));
        expect(runs()).toEqual([]);
      });

    if (backend === 'embedded') {
      it('does not hold up the end of its app for `atLeast`', async () => {
        await reports.quick();
        await apps.close(app);
        expect(performance.now() - runs()[0]!).toBeLessThan(AT_LEAST);
      });
      return;
    }

    it('keeps the others out for `atLeast` although the app is closed after the run', async () => {
      await reports.quick();
      await apps.close(app);
      expect(await others.quick()).toBeUndefined();
      await eventually('others may run', () => others.quick());
      const [first, second] = runs();
      expect(second! - first!).toBeGreaterThanOrEqual(AT_LEAST - 100);
    });

    it('keeps the others out for `atLeast` although the app is closed in mid-run', async () => {
      const call = reports.slowAndQuick();
      const outcome = expect(call).rejects.toBeInstanceOf(LockLostError);
      await apps.room.entered.promise;
      await apps.close(app);
      apps.room.open();
      await outcome;
      expect(await others.slowAndQuick()).toBeUndefined();
      await eventually('others may run', () => others.slowAndQuick());
      const [first, second] = runs();
      expect(second! - first!).toBeGreaterThanOrEqual(AT_LEAST - 100);
    });
  });
}
