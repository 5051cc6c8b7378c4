import { Module } from '@nestjs/common';
import { ConfigModule } from '@nestjs/config';
import { LockModule } from 'nestjs-interlock';
import { locks } from './locks.config.js';
import { PriceCache } from './price-cache.js';

@Module({
  imports: [ConfigModule.forRoot({ load: [locks] }), LockModule.forRootAsync(locks.asProvider())],
  providers: [PriceCache],
})
export class AppModule {}
