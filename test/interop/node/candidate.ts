import { setTimeout as delay } from 'node:timers/promises';
import type { LeaderLatch } from '../../../lib/core/election/leader-latch.js';
import type { Leadership } from '../../../lib/core/election/leader-term.js';
import { ObserverConnection } from './observer-connection.js';

const CLAIM_EVERY = 5;

/** A member of a fleet that stands for election: while its latch leads, it sends a claim every few ms, with its token. */
export class Candidate {
  private hasClaimed = false;

  private constructor(
    private readonly latch: LeaderLatch,
    private readonly observer: ObserverConnection,
  ) {}

  /** Starts the latch, and reports to the observer on that port under that name; resolves when the latch is closed. */
  static async stand(latch: LeaderLatch, port: number, name: string): Promise<void> {
    const observer = await ObserverConnection.open(port, name);
    latch.start();
    await new Candidate(latch, observer).run();
    observer.close();
  }

  private async run(): Promise<void> {
    while (this.latch.state !== 'CLOSED') {
      const { leadership } = this.latch;
      if (leadership) await this.claim(leadership);
      else if (this.hasClaimed) await this.concede();
      await delay(CLAIM_EVERY);
    }
  }

  private async claim(leadership: Leadership): Promise<void> {
    const token = await leadership.fencingToken().catch(() => undefined); // lost meanwhile
    if (token === undefined || !leadership.isHeld) return;
    this.hasClaimed = true;
    await this.observer.tell(`claim ${token}`);
  }

  private async concede(): Promise<void> {
    this.hasClaimed = false;
    await this.observer.tell('lost');
  }
}
