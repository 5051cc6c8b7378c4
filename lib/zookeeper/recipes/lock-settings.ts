/** What a client knows of a lock. */
export interface LockSettings {
  /** As the user gave it. */
  readonly key: string;
  /** Directory of the lock. */
  readonly path: string;
  /** Of its nodes; default: that of the client. */
  readonly data?: Buffer;
}
