import type { Place } from './contender-line.js';
import type { ContenderLines } from './contender-lines.js';
import type { LockCommands } from './lock-commands.js';

/** The place of one acquire in the line of this process for its lock, where there is one and it has to stand in it. */
export class LinePlace {
  #place?: Place;

  /** @param mayWait who may not wait passes by those who wait where there may be room for both */
  constructor(
    private readonly lines: ContenderLines,
    private readonly commands: Pick<LockCommands, 'line' | 'raw'>,
    mayWait: boolean,
  ) {
    const { line } = commands;
    if (line === 'contenders' || (line === 'waiters' && mayWait && !lines.isEmpty(commands.raw)))
      this.#join();
  }

  /** Is nobody of this process ahead? */
  get isFirst(): boolean {
    return this.#place?.isFirst ?? true;
  }

  /** Joins the line of those who wait; resolves when nobody is ahead, to whether anybody was. */
  async first(): Promise<boolean> {
    if (this.commands.line === 'nobody') return false;
    const place = this.#place ?? this.#join();
    const wasBehind = !place.isFirst;
    if (wasBehind) await place.first();
    return wasBehind;
  }

  /** Idempotent. */
  leave(): void {
    if (this.#place === undefined) return;
    this.#place.leave();
    this.lines.tidy(this.commands.raw);
  }

  #join(): Place {
    return (this.#place = this.lines.of(this.commands.raw).join());
  }
}
