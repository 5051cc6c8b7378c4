import { Module } from '@nestjs/common';
import { MemorySeatStore } from './memory-seat-store.js';
import { SeatStore } from './seat-store.js';
import { SeatStoreController } from './seat-store.controller.js';

/** The app of the main process, when there are several office processes. */
@Module({
  providers: [{ provide: SeatStore, useClass: MemorySeatStore }],
  controllers: [SeatStoreController],
})
export class SeatStoreModule {}
