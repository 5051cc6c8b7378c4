import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { RushResult } from '../rush/rush-result.js';
import type { SeatStore } from './seat-store.js';
import { SEATS, type Show } from './show.js';

/** How many rushes it remembers. */
const MOST_RUSHES = 20;

/** The store of one process. */
@Injectable()
export class MemorySeatStore implements SeatStore {
  private latency = 0;
  private left = SEATS;
  private tickets = Array<number>(SEATS).fill(0);
  private rushes: readonly RushResult[] = [];

  async open(latency: number): Promise<void> {
    this.latency = latency;
    this.left = SEATS;
    this.tickets = Array<number>(SEATS).fill(0);
  }

  async load(): Promise<Show> {
    await pause(this.latency);
    return { left: this.left, tickets: [...this.tickets], rushes: this.rushes };
  }

  async save(left: number, seat: number): Promise<void> {
    await pause(this.latency);
    this.left = left;
    this.tickets[seat - 1]! += 1;
  }

  async record(rush: RushResult): Promise<void> {
    this.rushes = [rush, ...this.rushes].slice(0, MOST_RUSHES);
  }
}
