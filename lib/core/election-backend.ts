import type { Wait } from './acquire-options.js';
import type { HeldLease } from './held-lease.js';
import type { Participant } from './participant.js';
import type { WaitContext } from './run-wait.js';

/** What a backend does for an election: it has a lock, and who holds that is elected. */
export interface ElectionBackend {
  readonly key: string;
  /** Who we are among the participants. */
  readonly id: string;
  /** The client. */
  readonly context: WaitContext & { readonly wait: Wait };
  /** Queues, also inside of the lock, until elected. Rejects as `Lock.acquire` does. */
  elect(signal: AbortSignal): Promise<HeldLease>;
  /** May who is elected act as the leader now? */
  readonly isCertain: boolean;
  /** Calls `listener`, with what happened, when `isCertain` may have changed; the returned function stops that. */
  onCertainty(listener: (why: string) => void): () => void;
  /**
   * Resolves when the servers have told whether what `elect` gave is still held, when that is lost, or when `signal` aborts.
   * Never rejects.
   */
  confirm(elected: HeldLease, signal: AbortSignal): Promise<void>;
  /** Rejects as the driver does. */
  participants(): Promise<Participant[]>;
}
