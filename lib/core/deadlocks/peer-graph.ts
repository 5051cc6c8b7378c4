import type { DeadlockedAcquire } from '../errors/index.js';
import type { DeadlockReport, ReportedWait } from './deadlock-report.js';
import { type CircleStep, findCircle, type OuterLock } from './wait-for-graph.js';

/** A wait, with the report that it is in. */
interface PeerWait extends ReportedWait {
  readonly report: DeadlockReport;
}

interface NamedLock extends OuterLock<PeerWait> {
  readonly name: string;
  readonly inside: PeerWait[];
}

/** Waits of several clients that form a circle. */
export interface PeerCircle {
  /** The same for the same waits on the same locks, so that it can be found again. */
  readonly id: string;
  /** The acquires, the youngest first. */
  readonly acquires: readonly DeadlockedAcquire[];
}

/**
 * The waits that some clients have reported, by the names of the locks on the servers.
 *
 * Invariant: a circle is found only from its youngest wait. All clients read the same ids and times, so one of them finds it,
 * whatever their clocks show, and none has to agree with the others on which one acts.
 */
export class PeerGraph {
  readonly #waits = new Map<string, PeerWait>();
  readonly #locks = new Map<string, NamedLock>();

  /** @param own the report of this client; where ids are the same, it counts more than those of the others */
  constructor(
    private readonly own: DeadlockReport,
    others: readonly DeadlockReport[],
  ) {
    for (const report of [own, ...others])
      for (const wait of report.waits)
        if (!this.#waits.has(wait.id)) this.#waits.set(wait.id, { ...wait, report });
    // In one order, whichever report came first: the same waits are the same circle then.
    for (const wait of [...this.#waits.values()].sort(byAge))
      for (const { name } of wait.inside) this.#lock(name).inside.push(wait);
  }

  /** The circle in which that wait of this client is the youngest, if it is in one. */
  circleOf(id: string, keyOf: (name: string) => string): PeerCircle | undefined {
    const start = this.#waits.get(id);
    if (start === undefined) return undefined;
    const circle = findCircle<PeerWait, NamedLock>(start, {
      waitsFor: (wait) => wait.waitsFor.map((name) => this.#lock(name)),
      counts: (wait) => wait === start || byAge(wait, start) < 0,
    });
    if (circle === undefined) return undefined;
    return {
      id: JSON.stringify(circle.map(({ wait, waitsFor }) => [wait.id, waitsFor.name])),
      acquires: circle.map((step) => this.#described(step, keyOf)),
    };
  }

  #lock(name: string): NamedLock {
    const lock = this.#locks.get(name) ?? { name, inside: [] };
    this.#locks.set(name, lock);
    return lock;
  }

  #described(
    { wait, holds, waitsFor }: CircleStep<PeerWait, NamedLock>,
    keyOf: (name: string) => string,
  ): DeadlockedAcquire {
    const { method, inside, report } = wait;
    const { client, host, pid } = report;
    const isHere = host === this.own.host && pid === this.own.pid;
    return {
      client,
      ...(!isHere && { host, pid }),
      method,
      holds: keyOf(holds.name),
      holder: inside.find(({ name }) => name === holds.name)?.holder,
      waitsFor: keyOf(waitsFor.name),
    };
  }
}

/** The oldest first. */
function byAge(a: ReportedWait, b: ReportedWait): number {
  if (a.since !== b.since) return a.since - b.since;
  if (a.id === b.id) return 0;
  return a.id < b.id ? -1 : 1;
}
