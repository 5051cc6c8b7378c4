import { Injectable } from '@nestjs/common';
import { currentLease, Semaphore } from 'nestjs-interlock';
import { LIMIT } from './partner.js';

@Injectable()
export class Quotes {
  /** Asks the partner for a quote. @returns the status of the answer */
  async ask(url: string): Promise<number> {
    const response = await fetch(url, { signal: currentLease()?.signal ?? null });
    await response.text();
    return response.status;
  }

  /** The same, when all replicas together have fewer than `LIMIT` requests under way. */
  @Semaphore('partner', { permits: LIMIT, wait: 60_000 })
  async askInTurn(url: string): Promise<number> {
    return this.ask(url);
  }
}
