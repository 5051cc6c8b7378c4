import { BullModule } from '@nestjs/bullmq';
import { Module } from '@nestjs/common';
import { LockModule } from 'nestjs-interlock';
import { Accounts } from './accounts.js';
import { PAYMENTS, PaymentsWorker } from './payments.worker.js';
import { REDIS_URL, RedisModule } from './redis.module.js';

@Module({
  imports: [
    RedisModule,
    LockModule.forRoot({ backend: 'redis', connect: REDIS_URL }),
    BullModule.forRoot({ connection: { url: REDIS_URL } }),
    BullModule.registerQueue({
      name: PAYMENTS,
      defaultJobOptions: { attempts: 3, removeOnComplete: true, removeOnFail: true },
    }),
  ],
  providers: [Accounts, PaymentsWorker],
})
export class AppModule {}
