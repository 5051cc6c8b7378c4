/** Where a {@link Renewable} stands while it is registered. */
export interface Registration {
  readonly leave: () => void;
  unschedule?: () => void;
}

/** A hold whose lease the {@link Renewal} keeps alive. */
export interface Renewable {
  /** As `LockCommands.renewalKeys`. */
  readonly keys: readonly [lock: string, hold: string];
  /** The field of the holder. */
  readonly field: string | Buffer;
  readonly kind: 'alone' | 'write' | 'read' | 'permits';
  /** Length of its lease, in ms. */
  readonly lease: number;
  /** How often the hold was extended: on the server, what is older than the last extension changes nothing. */
  readonly extension?: number;
  /** Does it set the lease? A renewal only raises it. */
  readonly isExtension?: boolean;
  /** By our clock it is safe up to then. */
  readonly deadline: number;
  /** Kept by the renewal. */
  registration?: Registration;
  /** Its lease was set anew, to so many ms, by a command sent at that time. */
  renewed(sentAt: number, lease: number): void;
  /** The server does not know the hold any more. */
  gone(): void;
  /** Its deadline has passed. */
  expired(): void;
}
