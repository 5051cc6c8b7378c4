import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** How slowly bytes are delivered. */
export interface Pace {
  /** Bytes at a time. */
  readonly chunk: number;
  /** Pause between two chunks in milliseconds. */
  readonly delay: number;
}

/** One direction of a proxied connection: it delivers in order, and keeps what it may not deliver yet. */
export class ProxyLane {
  private readonly waiting: (Buffer | 'end')[] = [];
  private delivering = false;

  constructor(
    private readonly to: Socket,
    private readonly held: () => boolean,
    private readonly pace: () => Pace | undefined = () => undefined,
  ) {}

  push(item: Buffer | 'end'): void {
    this.waiting.push(item);
    this.deliver();
  }

  /** Delivers what is waiting, unless the lane is held. */
  deliver(): void {
    if (!this.delivering) void this.drain();
  }

  /** Without a pace it runs through in the same tick. */
  private async drain(): Promise<void> {
    this.delivering = true;
    while (this.waiting.length > 0 && !this.held()) {
      const item = this.waiting.shift()!;
      const pace = this.pace();
      if (item === 'end') this.to.end();
      else if (pace) await this.drip(item, pace);
      else this.write(item);
    }
    this.delivering = false;
  }

  private async drip(bytes: Buffer, { chunk, delay: ms }: Pace): Promise<void> {
    for (let start = 0; start < bytes.length && !this.to.destroyed; start += chunk) {
      this.write(bytes.subarray(start, start + chunk));
      await delay(ms);
    }
  }

  private write(bytes: Buffer): void {
    if (this.to.writable) this.to.write(bytes);
  }
}
