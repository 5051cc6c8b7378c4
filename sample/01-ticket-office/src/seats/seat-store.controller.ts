import { Body, Controller, Get, Patch, Post, Put } from '@nestjs/common';
import type { RushResult } from '../rush/rush-result.js';
import { SeatStore } from './seat-store.js';
import type { Show } from './show.js';

/** Serves the store of the main process to the office processes. It knows of no lock: that is up to them. */
@Controller('seats')
export class SeatStoreController {
  constructor(private readonly store: SeatStore) {}

  @Put()
  open(@Body() { latency }: { latency: number }): Promise<void> {
    return this.store.open(latency);
  }

  @Get()
  load(): Promise<Show> {
    return this.store.load();
  }

  @Post()
  save(@Body() { left, seat }: { left: number; seat: number }): Promise<void> {
    return this.store.save(left, seat);
  }

  @Patch()
  record(@Body() rush: RushResult): Promise<void> {
    return this.store.record(rush);
  }
}
