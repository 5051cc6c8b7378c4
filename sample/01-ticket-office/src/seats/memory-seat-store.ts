import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { SeatStore } from './seat-store.js';
import { SEATS, type Show } from './show.js';

/** The store of one process. */
@Injectable()
export class MemorySeatStore implements SeatStore {
  private latency = 0;
  private left = SEATS;
  private tickets = Array<number>(SEATS).fill(0);

  async open(latency: number): Promise<void> {
    this.latency = latency;
    this.left = SEATS;
    this.tickets = Array<number>(SEATS).fill(0);
  }

  async load(): Promise<Show> {
    await pause(this.latency);
    return { left: this.left, tickets: [...this.tickets] };
  }

  async save(left: number, seat: number): Promise<void> {
    await pause(this.latency);
    this.left = left;
    this.tickets[seat - 1]! += 1;
  }
}
