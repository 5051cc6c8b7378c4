import { Module } from '@nestjs/common';
import { LockModule } from 'nestjs-interlock';
import { Quotes } from './quotes.js';

@Module({
  imports: [
    LockModule.forRoot({
      backend: 'redis',
      connect: process.env.REDIS_URL ?? 'redis://localhost:6379',
      prefix: 'sample:',
    }),
  ],
  providers: [Quotes],
})
export class AppModule {}
