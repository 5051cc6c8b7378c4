import { beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable, type INestApplication, type Type } from '@nestjs/common';
import {
  currentLease,
  LockClientClosedError,
  LockConnectionError,
  LockLostError,
  LockOptionsError,
  ReadLock,
  Semaphore,
  WithMultiLock,
  WithMutex,
  type Lease,
} from '../../lib/index.js';
import { Deferred, eventually } from '../support/time.js';
import { useShared } from '../support/fixtures.js';
import { IndependentRedisServers } from '../support/redis-server.js';
import { clientOf, contention, RecordingLogger, Room, useApps } from './support/apps.js';
import { useDeployment } from './support/deployments.js';
import { LOCK_KINDS, type LockKind } from './support/lock-kinds.js';

/** A service that locks by that decorator. */
function ordersThat({ lock }: LockKind) {
  @Injectable()
  class Orders {
    constructor(private readonly room: Room) {}

    @lock('order:{0}')
    async pay(_id: string): Promise<string> {
      return this.room.stay('paid');
    }
  }

  return Orders;
}

const balances = new Map<string, number>();
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

@Injectable()
class Bank {
  @WithMultiLock((from: string, to: string) => [from, to], { wait: 20_000 })
  async transfer(from: string, to: string): Promise<void> {
    const [less, more] = [balances.get(from)! - 1, balances.get(to)! + 1];
    await nextTurn();
    balances.set(from, less).set(to, more);
  }
}

@Injectable()
class Desks {
  running = 0;

  @Semaphore('desks', { permits: 3 })
  async consult(until: Promise<void>): Promise<void> {
    this.running += 1;
    await until;
    this.running -= 1;
  }
}

const ofMutexes = LOCK_KINDS.filter(({ decorator }) =>
  ['WithMutex', 'WithMultiLock'].includes(decorator),
);

describe.each([
  ['zookeeper', LOCK_KINDS],
  ['redis', LOCK_KINDS],
  ['several redis', ofMutexes],
] as const)('Two apps (%s)', (backend, kinds) => {
  const deployment = useDeployment(backend);
  const apps = useApps();
  beforeEach(() => deployment().wipe()); // the kinds have one key

  const boot = (provider: Type) =>
    apps.boot({ clients: [deployment().options()], providers: [provider] });
  const bootTwo = (provider: Type) => Promise.all([boot(provider), boot(provider)]);

  it.each(kinds)('keep each other out by @$decorator', async (kind) => {
    const Orders = ordersThat(kind);
    const [one, two] = await bootTwo(Orders);
    const rival = kind.rival(clientOf(two), 'order:7');
    expect(await apps.held(clientOf(two), rival, () => one.get(Orders).pay('7'))).toBe('paid');
  });

  it('transfer in opposite directions, one after the other, and lose nothing', async () => {
    for (const account of ['a', 'b', 'c']) balances.set(account, 100);
    const [one, two] = await bootTwo(Bank);
    const transfers = Array.from({ length: 10 }, () => [
      one.get(Bank).transfer('a', 'b'),
      two.get(Bank).transfer('b', 'a'),
      two.get(Bank).transfer('b', 'c'),
      one.get(Bank).transfer('c', 'a'),
    ]);
    await Promise.all(transfers.flat());
    expect(Object.fromEntries(balances)).toEqual({ a: 110, b: 90, c: 100 });
  });

  if (backend === 'several redis') return; // where there are mutexes only

  it('share the permits of a semaphore', async () => {
    const until = new Deferred();
    const [one, two] = await bootTwo(Desks);
    const both = [one.get(Desks), two.get(Desks)];
    const running = () => both.reduce((sum, desks) => sum + desks.running, 0);
    const calls = [...both, ...both, ...both].map((each) => each.consult(until.promise));
    const desks = clientOf(one).semaphore('desks', { permits: 3 });
    await eventually('all desks are taken', () => running() === 3);
    expect(await desks.availablePermits()).toBe(0);
    expect(await desks.tryAcquire()).toBeUndefined();
    expect(running()).toBe(3);
    until.resolve();
    await Promise.all(calls);
    expect(await desks.availablePermits()).toBe(3);
  });
});

@Injectable()
class Reports {
  readonly inside: Lease[] = [];
  mayLeave = new Deferred<void>();

  @WithMutex('report')
  async write(): Promise<string> {
    this.inside.push(currentLease()!);
    await this.mayLeave.promise;
    return this.again();
  }

  @WithMutex('report')
  async again(): Promise<string> {
    return 'written';
  }

  @WithMutex('report', { wait: 2_000 })
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

describe('An app with locks on three independent Redis servers', () => {
  const servers = useShared(() => IndependentRedisServers.start(3));
  const apps = useApps();
  let logger: RecordingLogger;

  beforeEach(async () => {
    await servers().restore();
    await servers().commands('FLUSHALL');
    logger = new RecordingLogger();
  });

  const partsOf = (provider: Type) => ({
    clients: [{ backend: 'redis' as const, nodes: servers().nodes, watchdogTimeout: 2_000 }],
    providers: [provider],
    logger,
  });
  const boot = (): Promise<INestApplication> => apps.boot(partsOf(Reports));

  it('keeps another out while a method runs, and leaves nothing behind', async () => {
    const [mine, theirs] = await Promise.all([boot(), boot()]);
    const [here, there] = [mine.get(Reports), theirs.get(Reports)];
    const first = here.write();
    await eventually('it is inside', () => here.inside.length);
    const contended = contention(clientOf(theirs));
    const second = there.write();
    await contended;
    there.mayLeave.resolve();
    expect(there.inside).toEqual([]);
    here.mayLeave.resolve();
    expect(await Promise.all([first, second])).toEqual(['written', 'written']);
    await eventually('nothing is left', async () => (await servers().having('report')) === 0);
  });

  it.each([
    ['Readers.read', Readers],
    ['Printers.print', Printers],
  ])('does not boot where a method asks for what is not there: %s', async (method, provider) => {
    const error = await apps.bootError(partsOf(provider));
    expect(error).toBeInstanceOf(LockOptionsError);
    expect(error.message).toContain(`of ${method}.`);
    expect(error.message).toContain('on independent servers there are mutexes only');
  });

  it('runs methods while one server is away, and none while two are', async () => {
    const reports = (await boot()).get(Reports);
    const before = await reports.number();
    await servers().kill(0);
    expect(await reports.number()).toBeGreaterThan(before);
    await servers().kill(1);
    await expect(reports.number()).rejects.toBeInstanceOf(LockConnectionError);
    await servers().restore();
  });

  it('loses what it holds when two are killed', async () => {
    const reports = (await boot()).get(Reports);
    const writing = reports.write();
    await eventually('it is inside', () => reports.inside.length);
    const [lease] = reports.inside;
    await servers().kill(0, 2);
    await eventually('it is lost', () => lease!.signal.aborted);
    expect(lease!.signal.reason).toBeInstanceOf(LockLostError);
    await servers().restore(); // for the lock that the method asks for next
    reports.mayLeave.resolve();
    await expect(writing).rejects.toBeInstanceOf(LockLostError);
  });

  it('logs the state of its connections, and refuses locks from its shutdown on', async () => {
    const app = await boot();
    expect(logger.lines).toContain(
      'log: Lock client "default": CONNECTED (server 1 of 3: the servers answer)',
    );
    await apps.close(app);
    await expect(app.get(Reports).write()).rejects.toBeInstanceOf(LockClientClosedError);
  });
});
