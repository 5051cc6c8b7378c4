/** A digest was sent. */
export interface Run {
  readonly how: 'no lock' | '@RunOnce';
  /** Number of the tick of the schedule. */
  readonly tick: number;
  /** Which replica has sent it. */
  readonly replica: string;
}
