import { EventEmitter } from 'node:events';

/** Returns the delay before the next attempt to connect, in ms; without a number, there is no further attempt. */
export type RetryStrategy = (attempt: number) => number | null;

/** A strategy without a further attempt. */
export const never: RetryStrategy = () => null;

/** After so many attempts to connect, the commands that wait for a connection are rejected, as ioredis does. */
const MOST_ATTEMPTS = 20;

/** A command that waits for a connection. */
interface Waiting {
  readonly proceed: () => void;
  readonly reject: (error: Error) => void;
}

/** What a client of ioredis shows of its connection: the status, the events, and the offline queue. */
export class ClientState {
  status: 'wait' | 'connecting' | 'ready' | 'close' | 'reconnecting' | 'end' = 'wait';
  /** Until the next attempt to connect, or to find the nodes of a cluster. */
  reconnectTimeout?: NodeJS.Timeout | undefined;
  /** Commands that wait for a connection. */
  readonly offlineQueue: Waiting[] = [];
  /** Number of times in a row that it closed without having been ready. */
  #attempts = 0;
  readonly #events = new EventEmitter().setMaxListeners(0);

  /** @param open begins to connect; ends in `ready`, or in `close` and `retry` */
  constructor(private readonly open: () => void) {}

  on(event: string, listener: (...args: unknown[]) => void): void {
    this.#events.on(event, listener);
  }

  off(event: string, listener: (...args: unknown[]) => void): void {
    this.#events.off(event, listener);
  }

  emit(event: string, ...args: unknown[]): void {
    if (event === 'error' && this.#events.listenerCount('error') === 0) return;
    this.#events.emit(event, ...args);
  }

  /** Begins to connect, unless it has begun. */
  connect(): void {
    if (this.status === 'wait' || this.status === 'end') this.#connect();
  }

  /** Resolves when there is a connection; rejects when there will be none, or has not been for long. */
  untilReady(): Promise<void> {
    if (this.status === 'end') return Promise.reject(new Error('Connection is closed.'));
    this.connect();
    return new Promise((proceed, reject) => this.offlineQueue.push({ proceed, reject }));
  }

  /** There is a connection: what waits for it proceeds. */
  ready(): void {
    this.status = 'ready';
    this.#attempts = 0;
    for (const { proceed } of this.offlineQueue.splice(0)) proceed();
    this.emit('ready');
  }

  /** There is no connection any more, and no attempt to connect. */
  close(): void {
    clearTimeout(this.reconnectTimeout);
    this.reconnectTimeout = undefined;
    this.status = 'close';
  }

  /** @param error why it has closed; none if it was meant to */
  emitClosed(error: unknown): void {
    if (error !== undefined) this.emit('error', error);
    this.emit('close');
  }

  /** Connects again after the delay of that strategy; without one, that was the end. Unless a listener has decided already. */
  retry(error: unknown, strategy: RetryStrategy): void {
    if (this.status !== 'close') return;
    this.#attempts += 1;
    const delay = strategy(this.#attempts);
    if (delay === null) {
      this.status = 'end';
      this.#rejectAll(error);
      this.emit('end');
      return;
    }
    if (this.#attempts % MOST_ATTEMPTS === 0) this.#rejectAll(error);
    this.status = 'reconnecting';
    this.reconnectTimeout = setTimeout(() => this.#connect(), delay);
  }

  #connect(): void {
    this.reconnectTimeout = undefined; // one that has fired is not pending
    this.status = 'connecting';
    this.open();
  }

  #rejectAll(error: unknown): void {
    const cause = error instanceof Error ? error : new Error('Connection is closed.');
    for (const { reject } of this.offlineQueue.splice(0)) reject(cause);
  }
}
