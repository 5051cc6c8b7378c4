import type { LockRecipe } from '../core/index.js';

/** What an acquire is at, as its process tells. */
export interface ReportedActivity {
  readonly state: 'waiting' | 'held';
  /** On the servers. */
  readonly name: string;
  readonly key: string;
  readonly recipe: LockRecipe;
  readonly method?: string;
  /** Of an election: who stands for it. */
  readonly participant?: string;
  /** In ms since 1970. */
  readonly since: number;
  /** What the servers know it by. */
  readonly ids: readonly string[];
  /** Where it knows it. */
  readonly fencingToken?: string;
}

/** What one client of one process tells the others. */
export interface ProcessReport {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly activity: readonly ReportedActivity[];
  readonly held: number;
  readonly waiting: number;
  readonly lost: number;
  readonly timedOut: number;
  /** By the name of the lock: how often it was lost, and timed out. */
  readonly locks: Readonly<Record<string, readonly [number, number]>>;
}
