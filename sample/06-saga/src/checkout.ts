import { Injectable } from '@nestjs/common';
import { currentLease, WithMultiLock } from 'nestjs-interlock';
import type { Order } from './order.js';
import { Shop } from './shop.js';

@Injectable()
export class Checkout {
  /** The saga: reserve, charge; when the charge is refused, put back. @returns whether the order was shipped */
  async buy({ stock, balances }: Shop, { item, customer, price }: Order): Promise<boolean> {
    const lease = currentLease();
    if (!(await stock.change(item, -1))) return false;
    // One of the locks may be lost by now: then undo what was done, instead of going on.
    const paid = lease?.isHeld !== false && (await balances.change(customer, -price));
    if (!paid) await stock.change(item, +1);
    return paid;
  }

  /** The same, alone at the item and at the account: two locks, on two kinds of servers, taken as one. */
  @WithMultiLock(
    (_: Shop, order: Order) => [
      { key: `stock:${order.item}`, client: 'warehouse' },
      { key: `account:${order.customer}`, client: 'bank' },
    ],
    { client: 'bank', wait: 60_000 },
  )
  async buyAlone(shop: Shop, order: Order): Promise<boolean> {
    return this.buy(shop, order);
  }
}
