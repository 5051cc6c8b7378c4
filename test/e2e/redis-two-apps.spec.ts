import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable, type INestApplication } from '@nestjs/common';
import { LockModule, WithMultiLock } from '../../lib/index.js';
import { RedisServer } from '../support/redis-server.js';
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

describe('Two apps on one Redis server', () => {
  const apps = new Apps();
  let server: RedisServer;
  let room: Room;

  beforeAll(async () => void (server = await RedisServer.start()));
  afterAll(() => server?.stop());
  beforeEach(() => void (room = new Room()));
  afterEach(async () => {
    room.open();
    await apps.close();
  });

  const boot = (provider: new (...args: never[]) => object): Promise<INestApplication> =>
    apps.boot({
      imports: [LockModule.forRoot({ backend: 'redis', connect: server.url })],
      providers: [provider, { provide: Room, useValue: room }],
    });

  it.each(LOCK_KINDS)('keep each other out by @$decorator', async (kind) => {
    await server.command('FLUSHALL'); // the kinds have one key
    const Orders = serviceThat(kind);
    const [one, two] = await Promise.all([boot(Orders), boot(Orders)]);
    const rival = kind.rival(clientOf(two), 'order:7');
    const call = () => one.get(Orders).pay('7');
    expect(await expectHeld(clientOf(two), rival, room, call)).toBe('paid');
  });

  it('transfer in opposite directions, one after the other, and lose nothing', async () => {
    for (const account of ['a', 'b', 'c']) balances.set(account, 100);
    const [one, two] = await Promise.all([boot(Bank), boot(Bank)]);
    const transfers = Array.from({ length: 10 }, () => [
      one.get(Bank).transfer('a', 'b'),
      two.get(Bank).transfer('b', 'a'),
      two.get(Bank).transfer('b', 'c'),
      one.get(Bank).transfer('c', 'a'),
    ]);
    await Promise.all(transfers.flat());
    expect(Object.fromEntries(balances)).toEqual({ a: 110, b: 90, c: 100 });
  });
});
