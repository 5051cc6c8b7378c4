import type { LockIdentity } from '../../core/lock.js';
import type { LockCommand } from './lock-commands.js';
import type { SharedToken } from './shared-token.js';

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
  readonly token: SharedToken;
  /** Called when the lock was given back, with how many were listening if that is known, and when it was lost. */
  readonly ended: (listening?: number) => void;
  /** Sends the release, where that is not done for this lock alone; as `GuaranteedRelease.run`. */
  readonly release?: SendRelease;
}

/** As `GuaranteedRelease.run`. */
export type SendRelease = (command: LockCommand, until: number) => Promise<number | undefined>;
