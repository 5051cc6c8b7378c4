import { Module } from '@nestjs/common';
import { LockModule } from 'nestjs-interlock';
import { Checkout } from './checkout.js';

@Module({
  imports: [
    LockModule.forRoot({
      name: 'warehouse',
      backend: 'zookeeper',
      connect: process.env.ZOOKEEPER ?? 'localhost:2181',
    }),
    LockModule.forRoot({
      name: 'bank',
      backend: 'redis',
      connect: process.env.REDIS_URL ?? 'redis://localhost:6379',
    }),
  ],
  providers: [Checkout],
})
export class AppModule {}
