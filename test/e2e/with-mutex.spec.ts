import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { LockModule, WithMutex, type LockClient } from '../../lib/index.js';
import { Apps, clientOf } from './support/apps.js';
import { expectHeld } from './support/expect-held.js';
import { Room } from './support/room.js';

@Injectable()
class Orders {
  constructor(private readonly room: Room) {}

  @WithMutex('orders')
  async run<T>(body: () => Promise<T> | T): Promise<T> {
    return body();
  }

  @WithMutex('orders')
  async nested(): Promise<string> {
    return this.run(() => this.run(() => 'deep'));
  }

  @WithMutex('other')
  async siblings(...bodies: (() => Promise<void>)[]): Promise<void> {
    await Promise.all(bodies.map((body) => this.run(body)));
  }

  @WithMutex('outer')
  @WithMutex('inner')
  async twice(): Promise<void> {
    await this.room.stay(undefined);
  }
}

describe('A @WithMutex method', () => {
  const apps = new Apps();
  let room: Room;
  let orders: Orders;
  let client: LockClient;

  beforeEach(async () => {
    room = new Room();
    const app = await apps.boot({
      imports: [LockModule.forRoot()],
      providers: [Orders, { provide: Room, useValue: room }],
    });
    orders = app.get(Orders);
    client = clientOf(app);
  });
  afterEach(() => apps.close());

  it('re-enters when it calls itself', async () => {
    expect(await orders.nested()).toBe('deep');
  });

  it('keeps siblings of one caller apart', async () => {
    const log: string[] = [];
    const visit = (name: string) => async () => {
      log.push(`${name} in`);
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`${name} out`);
    };
    await orders.siblings(visit('a'), visit('b'));
    const [first, second] = log[0] === 'a in' ? ['a', 'b'] : ['b', 'a'];
    expect(log).toEqual([`${first} in`, `${first} out`, `${second} in`, `${second} out`]);
  });

  it('with two locks takes the upper one first', async () => {
    const keys: string[] = [];
    client.on('acquired', ({ key }) => void keys.push(key));
    room.open();
    await orders.twice();
    expect(keys).toEqual(['outer', 'inner']);
  });

  it.each(['outer', 'inner'])('with two locks holds the %s one', async (key) => {
    await expectHeld(client, key, room, () => orders.twice());
  });
});
