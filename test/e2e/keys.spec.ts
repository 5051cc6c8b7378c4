import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable, type INestApplication } from '@nestjs/common';
import { LockKeyError, LockModule } from '../../lib/index.js';
import { Apps, clientOf } from './support/apps.js';
import { expectHeld } from './support/expect-held.js';
import { LOCK_KINDS, type LockKind } from './support/lock-kinds.js';
import { Room } from './support/room.js';

interface Order {
  id?: unknown;
  lines?: { sku: string }[];
}

/** A service that locks by that decorator. */
function serviceThat({ lock }: LockKind) {
  @Injectable()
  class Orders {
    constructor(private readonly room: Room) {}

    @lock(({ id }: Order) => `order:${String(id)}`)
    async byFunction(_order: Order, amount: number): Promise<number> {
      return this.room.stay(amount);
    }

    @lock('order:{0.id}:{0.lines.0.sku}:{1}')
    async byTemplate(_order: Order, amount: unknown): Promise<unknown> {
      return this.room.stay(amount);
    }

    @lock('{orders}')
    async byText(): Promise<void> {
      await this.room.stay(undefined);
    }

    @lock(({ id }: Order) => id as string)
    async asIs(_order: Order): Promise<void> {}
  }

  return Orders;
}

describe.each(LOCK_KINDS)('The key of a method with @$decorator', (kind) => {
  const Orders = serviceThat(kind);
  const apps = new Apps();
  let app: INestApplication;
  let room: Room;
  let orders: InstanceType<typeof Orders>;

  beforeEach(async () => {
    room = new Room();
    app = await apps.boot({
      imports: [LockModule.forRoot()],
      providers: [Orders, { provide: Room, useValue: room }],
    });
    orders = app.get(Orders);
  });
  afterEach(() => apps.close());

  const held = <T>(key: string, call: () => Promise<T>) => {
    const client = clientOf(app);
    return expectHeld(client, kind.rival(client, key), room, call);
  };
  const errorOf = (call: Promise<unknown>) =>
    call.then(
      () => undefined,
      (error: unknown) => error as Error,
    );

  it('comes from a function of the arguments', async () => {
    const call = () => orders.byFunction({ id: 7 }, 3);
    expect(await held('order:7', call)).toBe(3);
  });

  it('comes from a template', async () => {
    const order = { id: 7n, lines: [{ sku: 'ink' }] };
    const call = () => orders.byTemplate(order, 3);
    expect(await held('order:7:ink:3', call)).toBe(3);
  });

  it('may contain braces that are no placeholder', async () => {
    await held('{orders}', () => orders.byText());
  });

  it.each([
    [undefined, 'it must be a string'],
    [7, 'it must be a string'],
    ['', 'it is empty'],
    ['undefined', 'a value is missing or is an object'],
    ['order:[object Object]', 'a value is missing or is an object'],
    ['a\0b', 'it contains a NUL character'],
    ['\ud800', 'it contains a lone surrogate'],
    ['é'.repeat(257), 'it takes 514 bytes, and the maximum is 512'],
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
