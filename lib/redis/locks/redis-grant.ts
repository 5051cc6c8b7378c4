import type { LockIdentity } from '../../core/lock.js';
import type { LockCommand } from './lock-commands.js';

/**
 * The fencing token of a hold and of those inside of it: whoever asks for it first fetches it for all.
 *
 * A reader with a greater token than the writer it is inside of would have what is protected refuse that writer.
 */
export class SharedFencingToken {
  #asking?: Promise<bigint>;

  /** @param value where it came with the grant */
  constructor(private value?: bigint) {}

  /** Where it came with the grant, or was asked for. */
  get known(): bigint | undefined {
    return this.value;
  }

  /** Resolves to the token; rejects as `ask` does, which the next one then tries with its own. */
  async get(ask: () => Promise<bigint>): Promise<bigint> {
    while (this.#asking !== undefined) await this.#asking.catch(() => {});
    if (this.value !== undefined) return this.value;
    this.#asking = ask();
    try {
      return (this.value = await this.#asking);
    } finally {
      this.#asking = undefined;
    }
  }
}

/** How much faster than ours the clock of a server may run, as a part of the time; and a fixed part of that, in ms. */
const DRIFT = 0.01;
const FIXED_DRIFT = 2;

/**
 * Up to when a lease is safe by our clock: it began on the server after the command was sent, and its clock may run faster
 * than ours (the drift of the Redlock algorithm).
 */
export function driftAdjustedDeadline(sentAt: number, lease: number): number {
  return sentAt + lease - (lease * DRIFT + FIXED_DRIFT);
}

/** What was granted. Times in ms. */
export interface RedisGrant {
  readonly identity: LockIdentity;
  /** Key of the lock, as the user gave it. */
  readonly key: string;
  /** Who asked for it. */
  readonly method?: string;
  readonly holder: string;
  /** When the command was sent that set the lease. */
  readonly sentAt: number;
  readonly lease: number;
  /** Is the lease set anew as long as the lock is held? */
  readonly isRenewed: boolean;
  readonly maxHold?: number;
  /** How often the connection had been interrupted before the acquire was sent: one that was since may bring a copy of it. */
  readonly interruptions: number;
  /** Its own, or that of the writer it is inside of. */
  readonly token: SharedFencingToken;
  /** Called when the lock was given back, with how many were listening if that is known, and when it was lost. */
  readonly ended: (listening?: number) => void;
  /** Sends the release, where that is not done for this lock alone; as `GuaranteedRelease.run`. */
  readonly release?: SendRelease;
}

/** As `GuaranteedRelease.run`. */
export type SendRelease = (command: LockCommand, until: number) => Promise<number | undefined>;
