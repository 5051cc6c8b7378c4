import 'reflect-metadata';
import { setTimeout as pause } from 'node:timers/promises';
import { getQueueToken } from '@nestjs/bullmq';
import { NestFactory } from '@nestjs/core';
import type { Queue } from 'bullmq';
import { Accounts } from './accounts.js';
import { AppModule } from './app.module.js';
import type { Payment } from './payment.js';
import { PAYMENTS } from './payments.worker.js';

const CUSTOMERS = ['ann', 'bob', 'cid', 'dora'];
const PAYMENTS_EACH = 10;

const app = await NestFactory.createApplicationContext(AppModule, { logger: ['warn', 'error'] });
const accounts = app.get(Accounts);
const queue = app.get<Queue<Payment>>(getQueueToken(PAYMENTS));
try {
  console.log(
    `${CUSTOMERS.length} customers pay ${PAYMENTS_EACH} times 1. Eight jobs run at a time.\n`,
  );
  console.log(`no lock     ${await pay('unlocked')}`);
  console.log(`@WithMutex  ${await pay('locked')}`);
} finally {
  await app.close();
}

/** Sends all payments through the queue, and tells what came of them. */
async function pay(name: 'locked' | 'unlocked'): Promise<string> {
  await Promise.all(CUSTOMERS.map((customer) => accounts.clear(customer)));
  const payments = Array.from({ length: PAYMENTS_EACH }, () =>
    CUSTOMERS.map((customer) => ({ name, data: { customer, amount: 1 } })),
  );
  await queue.addBulk(payments.flat());
  while ((await queue.getJobCountByTypes('waiting', 'active', 'delayed')) > 0) await pause(20);
  const balances = await Promise.all(CUSTOMERS.map((customer) => accounts.balance(customer)));
  const told = CUSTOMERS.map((customer, index) => `${customer} ${balances[index]}`);
  return `${told.join(', ')} (up to ${accounts.mostAtOnce} payments at once)`;
}
