/** Which election of a name it is. */
export interface LeaderElectionOptions {
  /**
   * Name of the lock client.
   *
   * @default 'default'; for decorators that of `@LockDefaults`, where there is one
   */
  readonly client?: string;
}
