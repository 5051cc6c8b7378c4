import { existsSync, readFileSync } from 'node:fs';

/** Length of a tick, in ms. */
export const TICK = 1_000;

/** A run further than that from any second, in ms, is for none in particular: a timer was late. */
const CERTAIN = 400;

/** A run of a job on the leader. */
export interface TickRun {
  readonly backend: 'redis' | 'zookeeper';
  /** When it began, in ms since 1970. */
  readonly at: number;
  /** When the timer of its replica fired that it was for. */
  readonly firedAt: number;
  /** Of the replica. */
  readonly pid: number;
  readonly token: string;
}

/** What replicas have written of their runs on one backend, in the order in which they have run. */
export class TickRecord {
  constructor(
    readonly backend: TickRun['backend'],
    private readonly file: string,
  ) {}

  get runs(): TickRun[] {
    if (!existsSync(this.file)) return [];
    const lines = readFileSync(this.file, 'utf8').split('\n').slice(0, -1);
    const runs = lines.map((line) => JSON.parse(line) as TickRun);
    return runs.filter(({ backend }) => backend === this.backend);
  }

  /** The replica that has run last. */
  get leader(): number | undefined {
    return this.runs.at(-1)?.pid;
  }

  /**
   * How many replicas have run each tick. One alone may seem to run a tick twice: a timer that fires most of a second late is
   * close to the next tick.
   */
  get replicasOfTicks(): number[] {
    const replicas = new Map<number, Set<number>>();
    for (const { at, pid } of this.runs) {
      const tick = Math.round(at / TICK);
      if (Math.abs(at - tick * TICK) <= CERTAIN)
        replicas.set(tick, (replicas.get(tick) ?? new Set()).add(pid));
    }
    return [...replicas.values()].map(({ size }) => size);
  }

  /** The firings of timers that have led to more than one run. */
  get repeated(): string[] {
    const firings = this.runs.map(({ pid, firedAt }) => `${pid} ${firedAt}`);
    return firings.filter((firing, i) => firings.indexOf(firing) < i);
  }

  /** The leaderships in their order, as `pid token`: each once, unless an older one has run after a newer. */
  get reigns(): string[] {
    const all = this.runs.map(({ pid, token }) => `${pid} ${token}`);
    return all.filter((reign, i) => reign !== all[i - 1]);
  }

  /** The longest time from one run to the next, in ms. */
  get longestGap(): number {
    const { runs } = this;
    const gaps = runs.slice(1).map(({ at }, i) => at - runs[i]!.at);
    return Math.max(...gaps);
  }

  /** From then to the next run of another replica, in ms. */
  silence(from: number, victim: number): number | undefined {
    const next = this.runs.find(({ at, pid }) => at > from && pid !== victim);
    return next && next.at - from;
  }

  /** How often others than that replica have run since then. */
  runsSince(from: number, victim: number): number {
    return this.runs.filter(({ at, pid }) => at > from && pid !== victim).length;
  }
}
