import { Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { LockModule } from 'nestjs-interlock';
import { Digest } from './digest.js';

@Module({
  imports: [
    ScheduleModule.forRoot(),
    LockModule.forRoot({
      backend: 'redis',
      connect: process.env.REDIS_URL ?? 'redis://localhost:6379',
      prefix: 'sample:',
    }),
  ],
  providers: [Digest],
})
export class AppModule {}
