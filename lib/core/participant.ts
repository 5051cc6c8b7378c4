/** Who takes part in an election; Curator's class of that name. */
export interface Participant {
  /** As given to its latch or selector. */
  readonly id: string;
  readonly isLeader: boolean;
}
