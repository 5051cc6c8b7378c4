/** What counts as a loss: an interrupted connection too, or that of the session only; Curator's `ConnectionStateErrorPolicy`. */
export type ErrorPolicy = 'standard' | 'session';

/** Options of an election. */
export interface LeaderOptions {
  /**
   * Who we are, for whoever asks for the participants: a text of up to 1,000,000 bytes. It need not be unique.
   *
   * @default host and process id, e.g. `web-1:4711`
   */
  readonly id?: string;
  /**
   * What ends a leadership, on ZooKeeper; Curator's `ConnectionStateErrorPolicy`.
   *
   * - `'standard'`: an interrupted connection. Its node stays, so if the session survives it goes on as the leader
   *   afterwards.
   * - `'session'`: the loss of the session only.
   *
   * On Redis it is always the end of the lease on the lock.
   *
   * @default 'standard'
   */
  readonly errorPolicy?: ErrorPolicy;
}
