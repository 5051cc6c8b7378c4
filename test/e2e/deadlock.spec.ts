import { describe, expect, it, jest } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { LockDeadlockError, LockModule, LockOptionsError, WithMutex } from '../../lib/index.js';

@Injectable()
class Stock {
  @WithMutex('stock/{0}')
  async reserve(_: string, then: () => Promise<void>): Promise<void> {
    await then();
  }
}

@Injectable()
class Orders {
  @WithMutex('order/{0}')
  async pay(_: string, then: () => Promise<void>): Promise<void> {
    await then();
  }
}

const boot = (onDeadlock: 'reject' | undefined) => {
  @Module({ imports: [LockModule.forRoot({ onDeadlock })], providers: [Stock, Orders] })
  class AppModule {}

  return NestFactory.createApplicationContext(AppModule, { logger: false, abortOnError: false });
};

describe('Locked methods that call each other in opposite orders', () => {
  it('are named, and one of them is rejected where the app asks for that', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const app = await boot('reject');
    const [stock, orders] = [app.get(Stock), app.get(Orders)];
    const nothing = async () => {};
    const outcomes = await Promise.allSettled([
      orders.pay('7', () => stock.reserve('x', nothing)),
      stock.reserve('x', () => orders.pay('7', nothing)),
    ]);
    const [rejected] = outcomes.filter((it) => it.status === 'rejected');
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(rejected!.reason).toBeInstanceOf(LockDeadlockError);
    const { message } = rejected!.reason as Error;
    expect(message).toContain(
      'Orders.pay waits for "order/7" inside of Stock.reserve, which holds "stock/x"',
    );
    expect(message).toContain(
      'Stock.reserve waits for "stock/x" inside of Orders.pay, which holds "order/7"',
    );
    expect(warn).toHaveBeenCalledWith(`Deadlock: ${message}`, { code: 'LOCK_DEADLOCK' });
    warn.mockRestore();
    await app.close();
  });

  it('refuses another policy at boot', async () => {
    await expect(boot('throw' as 'reject')).rejects.toBeInstanceOf(LockOptionsError);
  });
});
