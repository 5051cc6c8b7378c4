import type { Clock } from '../../core/clock.js';
import type { ReportExchange } from '../../core/lock-inspection.js';
import { fulfilled } from './fulfilled.js';

/** One exchange over several servers: it works while one of them does. The same report may come by each. */
export class JointExchange implements ReportExchange {
  constructor(
    private readonly clock: Clock,
    private readonly parts: readonly ReportExchange[],
  ) {}

  answer(report: () => string): void {
    for (const part of this.parts) part.answer(report);
  }

  async ask(timeout: number): Promise<string[]> {
    const asked = this.parts.map((part) => part.ask(timeout));
    const answers = await fulfilled(this.clock, 2 * timeout, asked);
    return answers.flat();
  }

  async close(): Promise<void> {
    await Promise.all(this.parts.map((part) => part.close()));
  }
}
