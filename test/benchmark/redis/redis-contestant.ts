/** Acquire + release, `count` times in all, by `lanes` contenders with a lock object each, on so many `keys`. */
export interface Cycles {
  readonly keys: number;
  readonly lanes: number;
  readonly count: number;
}

export interface CyclesTaken {
  /** All of it, in ms. */
  readonly took: number;
  /** Each cycle, in µs. */
  readonly times: readonly number[];
}

/** A library at work. It does one thing at a time, and keeps its connection and lock objects. */
export interface RedisContestant {
  cycles(cycles: Cycles): Promise<CyclesTaken>;
}

/** Those who compete in a run, by name: `ours`, the peers that are there, and the `floor`. */
export type RedisContestants = Readonly<Record<string, RedisContestant>>;
