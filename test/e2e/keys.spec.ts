import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable, type INestApplication } from '@nestjs/common';
import { LockKeyError, LockModule, WithMutex } from '../../lib/index.js';
import { Apps, clientOf } from './support/apps.js';
import { expectHeld } from './support/expect-held.js';
import { Room } from './support/room.js';

interface Order {
  id?: unknown;
  lines?: { sku: string }[];
}

@Injectable()
class Orders {
  constructor(private readonly room: Room) {}

  @WithMutex(({ id }: Order) => `order:${String(id)}`)
  async byFunction(_order: Order, amount: number): Promise<number> {
    return this.room.stay(amount);
  }

  @WithMutex('order:{0.id}:{0.lines.0.sku}:{1}')
  async byTemplate(_order: Order, amount: unknown): Promise<unknown> {
    return this.room.stay(amount);
  }

  @WithMutex('{orders}')
  async byText(): Promise<void> {
    await this.room.stay(undefined);
  }

  @WithMutex(({ id }: Order) => id as string)
  async asIs(_order: Order): Promise<void> {}
}

describe('The key of a locked method', () => {
  const apps = new Apps();
  let app: INestApplication;
  let room: Room;
  let orders: Orders;

  beforeEach(async () => {
    room = new Room();
    app = await apps.boot({
      imports: [LockModule.forRoot()],
      providers: [Orders, { provide: Room, useValue: room }],
    });
    orders = app.get(Orders);
  });
  afterEach(() => apps.close());

  const errorOf = (call: Promise<unknown>) =>
    call.then(
      () => undefined,
      (error: unknown) => error as Error,
    );

  it('comes from a function of the arguments', async () => {
    const call = () => orders.byFunction({ id: 7 }, 3);
    expect(await expectHeld(clientOf(app), 'order:7', room, call)).toBe(3);
  });

  it('comes from a template', async () => {
    const order = { id: 7n, lines: [{ sku: 'ink' }] };
    const call = () => orders.byTemplate(order, 3);
    expect(await expectHeld(clientOf(app), 'order:7:ink:3', room, call)).toBe(3);
  });

  it('may contain braces that are no placeholder', async () => {
    await expectHeld(clientOf(app), '{orders}', room, () => orders.byText());
  });

  it.each([
    [undefined, 'it must be a string'],
    [7, 'it must be a string'],
    ['', 'it is empty'],
    ['undefined', 'a value is missing or is an object'],
    ['order:[object Object]', 'a value is missing or is an object'],
    ['a\0b', 'it contains a NUL character'],
    ['\ud800', 'it contains a lone surrogate'],
    ['é'.repeat(257), 'it takes 514 bytes, the most is 512'],
    ['/a//b', 'a key that starts with "/" is a path'],
  ])('is refused when its function gives %j', async (id, why) => {
    const error = await errorOf(orders.asIs({ id }));
    expect(error).toBeInstanceOf(LockKeyError);
    expect(error).toMatchObject({ code: 'LOCK_KEY' });
    expect(error?.message).toContain(why);
    expect(error?.message).toContain('(it is the key of Orders.asIs)');
  });

  it.each([
    [{}, 1, '{0.id} is undefined'],
    [{ id: '' }, 1, '{0.id} is ""'],
    [{ id: 'a', lines: [] }, 1, '{0.lines.0.sku} is undefined'],
    [{ id: 'a', lines: [{ sku: 'ink' }] }, {}, '{1} is an object'],
    [{ id: 'a', lines: [{ sku: 'ink' }] }, undefined, '{1} is undefined'],
    [undefined, 1, '{0.id} is undefined'],
  ])('is refused when its template finds no value in %j, %j', async (order, amount, what) => {
    const error = await errorOf(orders.byTemplate(order as Order, amount));
    expect(error).toBeInstanceOf(LockKeyError);
    expect(error).toMatchObject({ code: 'LOCK_KEY' });
    expect(error?.message).toContain(`${what} in a call of Orders.byTemplate`);
  });

  it('lets an error of its function through', async () => {
    const call = orders.asIs(null as unknown as Order);
    await expect(call).rejects.toThrow("Cannot destructure property 'id'");
  });
});
