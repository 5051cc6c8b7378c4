/** What a member of the fleet was granted. */
export interface WorkerHold {
  /** False once it was lost. */
  readonly isHeld: boolean;
  release(): Promise<void>;
}
