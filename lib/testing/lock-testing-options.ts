import type { ErrorPolicy } from '../core/election/election-backend.js';
import type { EmbeddedLockOptions } from '../embedded/create-embedded-lock-client.js';

/** What a client in virtual time takes from the options of the client that it stands for. The others change nothing. */
export interface LockTestingOptions extends EmbeddedLockOptions {
  /** `'redis'`: its locks take a `lease`, which ends in virtual time. */
  readonly backend?: 'embedded' | 'zookeeper' | 'redis';
  /** As on ZooKeeper: with `'standard'` a `suspend()` ends what is held. */
  readonly errorPolicy?: ErrorPolicy;
  /**
   * How long a session survives a lost connection, in milliseconds; as on a ZooKeeper server with its default settings, it
   * is raised to 4,000 and lowered to 40,000.
   *
   * @default 30000
   */
  readonly sessionTimeout?: number;
}
