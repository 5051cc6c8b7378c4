import type { HandOff } from '../../../lib/core/lock.js';

/** What a process has had of a lock. Times are in ms. */
export interface Share {
  readonly holds: number;
  readonly turns: number;
  /** In one turn. */
  readonly mostHolds: number;
  readonly longestTurn: number;
  /** From the end of a hold of a worker to its next begin. */
  readonly longestWait: number;
  /** How many turns of others were in such a wait. */
  readonly mostPassed: number;
}

/** From the first begin under a grant of the servers to the last end: the holds of one process, which hands the lock on. */
interface Turn {
  readonly process: string;
  readonly grant: number;
  readonly begin: number;
  holds: number;
}

interface Wait {
  readonly since: number;
  /** Number of the last turn before. */
  readonly after: number;
}

/** In a fleet, the workers of a process are named `process.number`, or as the process if it has only one. */
export const processOf = (worker: string) => worker.split('.', 1)[0]!;

/** The turns of the processes at one lock, in the order in which the workers report their begins and ends. */
export class Turns {
  /** As text; empty if there were none. */
  readonly faults: string[] = [];
  private readonly shares = new Map<string, { -readonly [K in keyof Share]: Share[K] }>();
  private readonly waits = new Map<string, Wait>();
  /** The grants so far, by process. */
  private readonly grants = new Set<string>();
  private turn: Turn | undefined;
  private count = 0;
  private lastGrant = -1;

  /**
   * @param workers they wait from `now` on
   * @param bounds of the processes that hand the lock on
   * @param isOrdered whether the servers number their grants in the order in which they were asked for them
   */
  constructor(
    workers: Iterable<string>,
    private readonly bounds: ReadonlyMap<string, HandOff>,
    private readonly isOrdered: boolean,
    now: number,
  ) {
    for (const worker of workers) {
      this.waits.set(worker, { since: now, after: 0 });
      this.shares.set(processOf(worker), {
        holds: 0,
        turns: 0,
        mostHolds: 0,
        longestTurn: 0,
        longestWait: 0,
        mostPassed: 0,
      });
    }
  }

  share(process: string): Share {
    return this.shares.get(process)!;
  }

  /** @param grant number that the grant has in the process, the same for all holds of a turn; below 0 where each hold is a turn */
  begin(worker: string, grant: number, now: number): void {
    const process = processOf(worker);
    const isHandedOn = grant >= 0 && this.turn?.process === process && this.turn.grant === grant;
    if (!isHandedOn) this.beginTurn(process, grant, now);
    const turn = this.turn!;
    turn.holds += 1;
    const most = (this.bounds.get(process)?.atMost ?? 0) + 1;
    if (turn.holds === most + 1)
      this.faults.push(`${process} had more than ${most} holds in a turn`);
    const share = this.shares.get(process)!;
    share.holds += 1;
    share.mostHolds = Math.max(share.mostHolds, turn.holds);
    const { since, after } = this.waits.get(worker)!;
    share.longestWait = Math.max(share.longestWait, now - since);
    share.mostPassed = Math.max(share.mostPassed, this.count - after - 1);
  }

  end(worker: string, now: number): void {
    this.waits.set(worker, { since: now, after: this.count });
    const process = processOf(worker);
    if (this.turn?.process !== process) return; // its turn began before these
    const share = this.shares.get(process)!;
    share.longestTurn = Math.max(share.longestTurn, now - this.turn.begin);
  }

  private beginTurn(process: string, grant: number, begin: number): void {
    this.turn = { process, grant, begin, holds: 0 };
    this.count += 1;
    this.shares.get(process)!.turns += 1;
    if (grant < 0) return;
    const name = `${process} with grant ${grant}`;
    if (this.grants.has(name)) this.faults.push(`${name} went on after its turn`);
    this.grants.add(name);
    if (this.isOrdered && grant <= this.lastGrant)
      this.faults.push(`${name} came behind ${this.lastGrant}`);
    this.lastGrant = grant;
  }
}
