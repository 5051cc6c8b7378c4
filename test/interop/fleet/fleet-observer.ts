import type { History } from './history.js';
import { LineObserver } from './line-observer.js';

/** What may come between a worker and the history. */
export interface Interlude {
  /** Before the begin of any worker is recorded. */
  beforeBegin?(): Promise<void>;
  /** A begin was recorded; that worker waits until this is over, the others do not. */
  afterBegin?(worker: string): Promise<void> | undefined;
}

/** Listens to the workers of the fleet, and records their history, one event after the other. */
export class FleetObserver {
  private last = Promise.resolve();
  private interlude: Interlude = {};
  private lines!: LineObserver;

  private constructor(private readonly history: History) {}

  static async start(history: History): Promise<FleetObserver> {
    const observer = new FleetObserver(history);
    observer.lines = await LineObserver.start(async (worker, event, argument) => {
      await observer.inTurn(() => observer.note(event, worker, Number(argument)));
      if (event === 'begin') await observer.interlude.afterBegin?.(worker);
    });
    return observer;
  }

  get port(): number {
    return this.lines.port;
  }

  interpose(interlude: Interlude): void {
    this.interlude = interlude;
  }

  /** Resolves when all workers have left. */
  stop(): Promise<void> {
    return this.lines.stop();
  }

  /** Handles events in the order of arrival, even where an interlude takes a while. */
  private inTurn(note: () => Promise<void>): Promise<void> {
    return (this.last = this.last.then(note));
  }

  private async note(event: string, worker: string, sequence: number): Promise<void> {
    if (event === 'end') return this.history.end(worker);
    if (event === 'lost') return this.history.lost(worker);
    await this.interlude.beforeBegin?.();
    this.history.begin(worker, sequence);
  }
}
