import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable, type INestApplication } from '@nestjs/common';
import 'reflect-metadata';
import {
  currentLease,
  LockClientClosedError,
  LockLostError,
  LockModule,
  WithMutex,
  type Lease,
} from '../../lib/index.js';
import { Deferred } from '../support/deferred.js';
import { eventually } from '../support/eventually.js';
import { IndependentRedisServers } from '../support/independent-redis-servers.js';
import { Apps, clientOf } from './support/apps.js';
import { RecordingLogger } from './support/recording-logger.js';

@Injectable()
class Reports {
  readonly inside: Lease[] = [];
  mayLeave = new Deferred<void>();

  @WithMutex((id: number) => `report-${id}`)
  async write(id: number): Promise<string> {
    this.inside.push(currentLease()!);
    await this.mayLeave.promise;
    return this.again(id);
  }

  @WithMutex((id: number) => `report-${id}`)
  async again(id: number): Promise<string> {
    return `report ${id}`;
  }
}

const apps = new Apps();
afterEach(() => apps.close());

describe('Two apps with locks on three Redis servers', () => {
  let servers: IndependentRedisServers;
  let mine: INestApplication;
  let theirs: INestApplication;
  let logger: RecordingLogger;

  beforeAll(async () => {
    servers = await IndependentRedisServers.start(3);
  });
  afterAll(() => servers.stop());

  beforeEach(async () => {
    await servers.restore();
    await servers.commands('FLUSHALL');
    logger = new RecordingLogger();
    [mine, theirs] = await Promise.all([boot(), boot()]);
  });

  function boot(): Promise<INestApplication> {
    const { nodes } = servers;
    const locks = LockModule.forRoot({ backend: 'redis', nodes, watchdogTimeout: 2_000 });
    return apps.boot({ imports: [locks], providers: [Reports] }, (it) => it.setLogger(logger));
  }

  it('do not run a locked method at the same time', async () => {
    const [here, there] = [mine.get(Reports), theirs.get(Reports)];
    const first = here.write(1);
    await eventually('it is inside', () => here.inside.length);
    const contended = new Promise((resolve) => clientOf(theirs).on('contended', resolve));
    const second = there.write(1);
    await contended;
    there.mayLeave.resolve();
    expect(there.inside).toEqual([]);
    here.mayLeave.resolve();
    expect(await Promise.all([first, second])).toEqual(['report 1', 'report 1']);
    await eventually('nothing is left', async () => (await servers.having('report-1')) === 0);
  });

  it('go on when one of the servers is killed', async () => {
    await servers.kill(1);
    const reports = mine.get(Reports);
    reports.mayLeave.resolve();
    expect(await reports.write(2)).toBe('report 2');
  });

  it('lose what they hold when two are killed', async () => {
    const reports = mine.get(Reports);
    const writing = reports.write(3);
    await eventually('it is inside', () => reports.inside.length);
    const [lease] = reports.inside;
    const lost = new Promise((resolve) => lease!.signal.addEventListener('abort', resolve));
    await servers.kill(0, 2);
    await lost;
    expect(lease!.signal.reason).toBeInstanceOf(LockLostError);
    await servers.restore(); // for the lock that the method asks for next
    reports.mayLeave.resolve();
    await expect(writing).rejects.toBeInstanceOf(LockLostError);
  });

  it('log the state of their connections, and refuse locks from their shutdown on', async () => {
    expect(logger.lines).toContain(
      'log: Lock client "default": CONNECTED (server 1 of 3: the servers answer)',
    );
    const reports = mine.get(Reports);
    await apps.close(mine);
    await expect(reports.write(4)).rejects.toBeInstanceOf(LockClientClosedError);
  });
});
