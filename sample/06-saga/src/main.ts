import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';
import { Checkout } from './checkout.js';
import type { Order } from './order.js';
import { LAMPS, MONEY, Shop } from './shop.js';

const PRICE = 100;
const CUSTOMERS = Object.keys(MONEY) as (keyof typeof MONEY)[];
const ORDERS = [1, 2, 3, 4].flatMap(() =>
  CUSTOMERS.map((customer): Order => ({ item: 'lamp', customer, price: PRICE })),
);

const app = await NestFactory.createApplicationContext(AppModule, { logger: ['warn', 'error'] });
try {
  const checkout = app.get(Checkout);
  console.log(`${ORDERS.length} orders for ${LAMPS} lamps. Not every customer can pay.\n`);
  console.log(`no lock          ${await sell((shop, order) => checkout.buy(shop, order))}`);
  console.log(`@WithMultiLock   ${await sell((shop, order) => checkout.buyAlone(shop, order))}`);
} finally {
  await app.close();
}

/** Sends all orders at once, and tells whether the books agree. */
async function sell(buy: (shop: Shop, order: Order) => Promise<boolean>): Promise<string> {
  const shop = new Shop();
  const shipped = (await Promise.all(ORDERS.map((order) => buy(shop, order)))).filter(Boolean);
  const left = shop.stock.get('lamp');
  const paid = CUSTOMERS.reduce((sum, name) => sum + MONEY[name] - shop.balances.get(name), 0);
  return `${shipped.length} shipped, ${left} left, ${paid / PRICE} paid`;
}
