import { EventEmitter } from 'node:events';

/** A command that waits for a connection. */
interface Waiting {
  readonly proceed: () => void;
  readonly reject: (error: Error) => void;
}

/** The states, the events, and the queue of commands that ioredis has, for one server and for a cluster. */
export abstract class ClientBase {
  status: 'wait' | 'connecting' | 'ready' | 'close' | 'reconnecting' | 'end' = 'wait';
  /** Until the next attempt to connect. */
  reconnectTimeout?: NodeJS.Timeout | undefined;
  /** Commands that wait for a connection. */
  readonly offlineQueue: Waiting[] = [];
  readonly #events = new EventEmitter().setMaxListeners(0);

  on(event: string, listener: (...args: unknown[]) => void): this {
    this.#events.on(event, listener);
    return this;
  }

  off(event: string, listener: (...args: unknown[]) => void): this {
    this.#events.off(event, listener);
    return this;
  }

  /** Begins to connect. */
  async connect(): Promise<void> {
    if (this.status === 'wait' || this.status === 'end') this.open();
  }

  protected abstract open(): void;

  /** Resolves when there is a connection; rejects when there will be none, or has not been for long. */
  protected untilReady(): Promise<void> {
    if (this.status === 'end') return Promise.reject(new Error('Connection is closed.'));
    if (this.status === 'wait') this.open();
    return new Promise((proceed, reject) => this.offlineQueue.push({ proceed, reject }));
  }

  protected proceedAll(): void {
    for (const { proceed } of this.offlineQueue.splice(0)) proceed();
  }

  protected rejectAll(error: unknown): void {
    const cause = error instanceof Error ? error : new Error('Connection is closed.');
    for (const { reject } of this.offlineQueue.splice(0)) reject(cause);
  }

  protected emit(event: string, ...args: unknown[]): void {
    if (event === 'error' && this.#events.listenerCount('error') === 0) return;
    this.#events.emit(event, ...args);
  }
}
