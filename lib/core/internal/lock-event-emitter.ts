import { channel, type Channel } from 'node:diagnostics_channel';
import type { LockEvents } from '../lock-events.js';
import { LeaseScope } from './lease-scope.js';
import { warnOfListener } from './listeners.js';

const EVENTS = [
  'acquired',
  'contended',
  'released',
  'endangered',
  'lost',
  'deadlock',
  'failed',
  'connection',
] as const;

/** The diagnostics channels of this process, by event. Kept, as Node drops channels that are not referenced. */
const lockChannels = Object.fromEntries(
  EVENTS.map((event) => [event, channel(`nestjs-interlock:${event}`)]),
) as Readonly<Record<keyof LockEvents, Channel>>;

type Listener<E extends keyof LockEvents> = (event: LockEvents[E]) => void;

/**
 * Delivers {@link LockEvents} synchronously, to listeners and to the diagnostics channels of the process. A listener that
 * throws or rejects is reported as a process warning and does not affect others. Listeners run outside any lease scope, so that they
 * do not re-enter the lock of the code that causes the event.
 */
export class LockEventEmitter {
  readonly #listeners = new Map<keyof LockEvents, Set<Listener<never>>>();

  /** @param client name of the client; without it nothing is published, for a part of a client that publishes by itself */
  constructor(private readonly client?: string) {}

  /** Adds a listener; the returned function removes it. */
  on<E extends keyof LockEvents>(event: E, listener: Listener<E>): () => void {
    const listeners = this.#listeners.get(event) ?? new Set();
    this.#listeners.set(event, listeners);
    const entry: Listener<E> = (value) => listener(value); // the same function may be added twice
    listeners.add(entry);
    return () => void listeners.delete(entry);
  }

  /** Whether the event has a listener or subscriber; otherwise it need not be created. */
  isHeard(event: keyof LockEvents): boolean {
    if (this.client !== undefined && lockChannels[event].hasSubscribers) return true;
    const listeners = this.#listeners.get(event);
    return listeners !== undefined && listeners.size > 0;
  }

  emit<E extends keyof LockEvents>(event: E, value: LockEvents[E]): void {
    if (this.isHeard(event)) LeaseScope.runOutside(() => this.#tell(event, value));
  }

  #tell<E extends keyof LockEvents>(event: E, value: LockEvents[E]): void {
    const failed = (error: unknown) => warnOfListener(`the lock event "${event}"`, error);
    for (const listener of [...(this.#listeners.get(event) ?? [])])
      try {
        const result: unknown = (listener as Listener<E>)(value);
        if (typeof result === 'object') Promise.resolve(result).catch(failed); // an async function may reject
      } catch (error) {
        failed(error);
      }
    const { client } = this;
    if (client !== undefined && lockChannels[event].hasSubscribers)
      lockChannels[event].publish({ client, ...value });
  }
}
