import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Redis } from 'ioredis';
import { currentLease, WithMutex } from 'nestjs-interlock';
import type { Payment } from './payment.js';

/** The balances of the customers, in Redis. */
@Injectable()
export class Accounts {
  /** At how many payments it was at once, at most. */
  mostAtOnce = 0;
  private atOnce = 0;

  constructor(private readonly redis: Redis) {}

  /** Reads the balance, thinks, and writes it. Whoever reads in between overwrites what is written here. */
  async book({ customer, amount }: Payment): Promise<void> {
    this.mostAtOnce = Math.max(this.mostAtOnce, ++this.atOnce);
    try {
      const balance = await this.balance(customer);
      await pause(10); // as a check with another service takes
      // A lock can be lost while we wait; then somebody else may be at this balance.
      currentLease()?.assertHeld();
      await this.redis.set(keyOf(customer), balance + amount);
    } finally {
      this.atOnce -= 1;
    }
  }

  /** The same, one payment of a customer at a time. Those of other customers go on beside it. */
  @WithMutex('customer:{0.customer}', { wait: 30_000 })
  async bookAlone(payment: Payment): Promise<void> {
    await this.book(payment);
  }

  async balance(customer: string): Promise<number> {
    return Number(await this.redis.get(keyOf(customer)));
  }

  async clear(customer: string): Promise<void> {
    await this.redis.del(keyOf(customer));
    this.mostAtOnce = 0;
  }
}

const keyOf = (customer: string) => `sample:balance:${customer}`;
