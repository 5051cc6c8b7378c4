// A Nest app with ten calls that hold a lock and do not end, and fifty that wait for those locks.
// It sends its pid when all of them do, then what each waiter and each holder learns from the end of the app.
// Argument: the options of LockModule.forRoot, as JSON.
import 'reflect-metadata';
import { once } from 'node:events';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  currentLease,
  getLockClientToken,
  LockModule,
  WithMutex,
  type LockClient,
  type LockError,
  type LockModuleOptions,
} from '../../../lib/index.js';
import { eventually } from '../../support/time.js';

const TEN = Array.from({ length: 10 }, (_, i) => i);
const WAITERS_OF_EACH = 5;

const tell = (to: 'holder' | 'waiter', { code }: LockError) => process.send!(`${to}: ${code}`);

@Injectable()
class Orders {
  @WithMutex('order:{0}')
  async pay(_order: number): Promise<void> {
    const { signal } = currentLease()!;
    await once(signal, 'abort');
    tell('holder', signal.reason as LockError);
    await new Promise(() => {}); // it does not heed the signal
  }
}

@Module({
  imports: [LockModule.forRoot(JSON.parse(process.argv[2]!) as LockModuleOptions)],
  providers: [Orders],
})
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: false });
app.enableShutdownHooks();
await app.listen(0, '127.0.0.1');

const orders = app.get(Orders);
const client = app.get<LockClient>(getLockClientToken());
const pay = (order: number) =>
  void orders.pay(order).catch((error: LockError) => tell('waiter', error));

for (const order of TEN) pay(order);
await eventually('all hold', () => client.status().held === TEN.length);
for (let i = 0; i < WAITERS_OF_EACH; i++) for (const order of TEN) pay(order);
await eventually('all wait', () => client.status().waiting === WAITERS_OF_EACH * TEN.length);
process.send!(process.pid);
