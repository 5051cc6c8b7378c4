import { Injectable } from '@nestjs/common';
import { currentLease, WithMutex } from 'nestjs-interlock';
import { SeatStore } from '../seats/seat-store.js';
import { SEATS } from '../seats/show.js';
import type { Sale } from './sale.js';

/** The lock that all sales of the show share, in all processes. */
export const SHOW_LOCK = 'show';

@Injectable()
export class TicketOffice {
  constructor(private readonly store: SeatStore) {}

  /** Reads how many seats are left, then writes one less. Whoever reads in between sells the same seat again. */
  async sell(): Promise<number | null> {
    const { left } = await this.store.load();
    if (left === 0) return null;
    const seat = SEATS - left + 1;
    // A lock can be lost while we wait for the store; then somebody else may be selling.
    currentLease()?.assertHeld();
    await this.store.save(left - 1, seat);
    return seat;
  }

  /**
   * The same, one customer at a time.
   *
   * @param askedAt when the customer asked, by `performance.now()`
   */
  @WithMutex(SHOW_LOCK, { wait: 60_000 })
  async sellAlone(askedAt: number): Promise<Sale> {
    const waitedMs = performance.now() - askedAt;
    return { seat: await this.sell(), waitedMs };
  }
}
