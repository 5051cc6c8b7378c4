/** How a lock client is. */
export interface LockClientStatus {
  /**
   * - `up`: it grants locks.
   * - `degraded`: the connection is interrupted, or the server refuses to lock anything for now, but what is held may still
   *   be; of several independent servers a minority is not connected.
   * - `down`: not connected yet, its locks are lost, too few servers are connected, or it is closed.
   */
  readonly health: 'up' | 'degraded' | 'down';
  /** State of the connection, for operators. */
  readonly state: string;
  /** Of ZooKeeper, where there is one. */
  readonly sessionId?: string;
  /** Of several independent Redis servers. */
  readonly servers?: { readonly connected: number; readonly total: number };
  /** Locks held and not lost; of each multi-lock its parts. A leader holds its election. */
  readonly held: number;
  /** Acquires under way; see `LockClient.activity`. Who stands for election and does not lead counts. */
  readonly waiting: number;
}
