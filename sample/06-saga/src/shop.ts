import { Shelf } from './shelf.js';

export const LAMPS = 5;

/** How much money the customers have. */
export const MONEY = { ann: 300, bob: 20, cid: 1_000 };

/** What the orders are about. */
export class Shop {
  readonly stock = new Shelf({ lamp: LAMPS });
  readonly balances = new Shelf(MONEY);
}
