import { Controller, Get } from '@nestjs/common';
import { currentLease, LeaderOnly, type Lease } from '../../../lib/index.js';
import { Room } from './room.js';

/** A controller with methods that run on the leader of `mailer`, one for each policy on loss. */
@Controller('mails')
export class Mailer {
  lease?: Lease;
  /** What the `onLost` of `told` was called with. */
  static lost: unknown[] = [];

  constructor(private readonly room: Room) {}

  @LeaderOnly('mailer')
  async send(...to: string[]): Promise<string | undefined> {
    this.lease = currentLease();
    return `sent to ${to.join(' and ')}`;
  }

  @LeaderOnly('mailer')
  async outer(): Promise<string | undefined> {
    return this.send('the inner one');
  }

  @LeaderOnly('mailer')
  async failing(error: Error): Promise<void> {
    throw error;
  }

  @Get()
  @LeaderOnly('mailer')
  async throwing(): Promise<string | undefined> {
    return this.#stay();
  }

  @LeaderOnly('mailer', { onLost: 'abort' })
  async aborting(): Promise<string | undefined> {
    return this.#stay();
  }

  @LeaderOnly('mailer', { onLost: 'ignore' })
  async ignoring(): Promise<string | undefined> {
    return this.#stay();
  }

  @LeaderOnly<[string]>('mailer', {
    onLost(error, to) {
      Mailer.lost.push([error.code, to]);
    },
  })
  async told(_to: string): Promise<string | undefined> {
    return this.#stay();
  }

  #stay(): Promise<string> {
    this.lease = currentLease();
    return this.room.stay('sent');
  }
}
