import { Injectable } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { RunOnce } from 'nestjs-interlock';
import type { Run } from './run.js';
import { EVERY_TWO_SECONDS, tickAt } from './schedule.js';

/** Sends a digest to all customers. Every replica has this schedule. */
@Injectable()
export class Digest {
  @Cron(EVERY_TWO_SECONDS)
  async sendFromEveryReplica(): Promise<void> {
    this.send('no lock');
  }

  @Cron(EVERY_TWO_SECONDS)
  @RunOnce('digest', { atMost: 60_000, occurrence: EVERY_TWO_SECONDS })
  async sendOnce(): Promise<void> {
    this.send('@RunOnce');
  }

  /** Tells the main process, which counts. */
  private send(how: Run['how']): void {
    const run: Run = { how, tick: tickAt(Date.now()), replica: process.env.REPLICA! };
    process.send!(run);
  }
}
