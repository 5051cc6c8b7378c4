import { existsSync, readFileSync } from 'node:fs';

/** Length of a tick, in ms. */
export const TICK = 1_000;

/** A run further than that from the second that it is for, in ms, may be for another one: a timer was late. */
const CERTAIN = 400;

/** A run of a job on the leader. */
export interface TickRun {
  readonly backend: 'redis' | 'zookeeper';
  /** When it began, in ms since 1970. */
  readonly at: number;
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

  /** Of runs that certainly are for one tick: how many each tick has. */
  get runsOfTicks(): number[] {
    const counts = new Map<number, number>();
    for (const { at } of this.runs) {
      const tick = Math.round(at / TICK);
      if (Math.abs(at - tick * TICK) <= CERTAIN) counts.set(tick, (counts.get(tick) ?? 0) + 1);
    }
    return [...counts.values()];
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
