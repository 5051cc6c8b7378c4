import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable, type INestApplication } from '@nestjs/common';
import { LockModule, Semaphore, WithMultiLock } from '../../lib/index.js';
import { eventually } from '../support/eventually.js';
import { Deferred } from '../support/deferred.js';
import { ZooKeeperServer } from '../support/zookeeper-server.js';
import { Apps, clientOf } from './support/apps.js';
import { expectHeld } from './support/expect-held.js';
import { LOCK_KINDS, type LockKind } from './support/lock-kinds.js';
import { Room } from './support/room.js';

/** A service that locks by that decorator. */
function serviceThat({ lock }: LockKind) {
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

@Injectable()
class Bank {
  running = 0;

  @WithMultiLock((from: string, to: string) => [from, to], { wait: 20_000 })
  async transfer(_from: string, _to: string): Promise<string> {
    return 'done';
  }

  @Semaphore('desks', { permits: 3 })
  async consult(until: Promise<void>): Promise<void> {
    this.running += 1;
    await until;
    this.running -= 1;
  }
}

describe('Two apps on one ZooKeeper server', () => {
  const apps = new Apps();
  let server: ZooKeeperServer;
  let room: Room;

  beforeAll(async () => void (server = await ZooKeeperServer.start()), 60_000);
  afterAll(() => server?.stop());
  beforeEach(() => void (room = new Room()));
  afterEach(() => apps.close());

  const boot = (provider: new (...args: never[]) => object): Promise<INestApplication> =>
    apps.boot({
      imports: [LockModule.forRoot({ backend: 'zookeeper', connect: server.connectString })],
      providers: [provider, { provide: Room, useValue: room }],
    });

  it.each(LOCK_KINDS)('keep each other out by @$decorator', async (kind) => {
    const Orders = serviceThat(kind);
    const [one, two] = await Promise.all([boot(Orders), boot(Orders)]);
    const rival = kind.rival(clientOf(two), 'order:7');
    const call = () => one.get(Orders).pay('7');
    expect(await expectHeld(clientOf(two), rival, room, call)).toBe('paid');
  });

  it('share the permits of a semaphore', async () => {
    const until = new Deferred();
    const [one, two] = await Promise.all([boot(Bank), boot(Bank)]);
    const banks = [one.get(Bank), two.get(Bank)];
    const running = () => banks.reduce((sum, bank) => sum + bank.running, 0);
    const calls = [...banks, ...banks, ...banks].map((bank) => bank.consult(until.promise));
    const desks = clientOf(one).semaphore('desks', { permits: 3 });
    await eventually('all desks are taken', () => running() === 3);
    expect(await desks.availablePermits()).toBe(0);
    expect(await desks.tryAcquire()).toBeUndefined();
    expect(running()).toBe(3);
    until.resolve();
    await Promise.all(calls);
    expect(await desks.availablePermits()).toBe(3);
  });

  it('transfer in opposite directions without waiting in a circle', async () => {
    const [one, two] = await Promise.all([boot(Bank), boot(Bank)]);
    const transfers = Array.from({ length: 10 }, () => [
      one.get(Bank).transfer('a', 'b'),
      two.get(Bank).transfer('b', 'a'),
    ]);
    expect(new Set(await Promise.all(transfers.flat()))).toEqual(new Set(['done']));
  });
});
