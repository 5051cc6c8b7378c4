import { Processor, WorkerHost } from '@nestjs/bullmq';
import type { Job } from 'bullmq';
import { Accounts } from './accounts.js';
import type { Payment } from './payment.js';

export const PAYMENTS = 'sample-payments';

@Processor(PAYMENTS, { concurrency: 8 })
export class PaymentsWorker extends WorkerHost {
  constructor(private readonly accounts: Accounts) {
    super();
  }

  async process({ name, data }: Job<Payment>): Promise<void> {
    await (name === 'locked' ? this.accounts.bookAlone(data) : this.accounts.book(data));
  }
}
