import {
  type ClientHealth,
  clientHealth,
  type UrgentActivity,
  urgentActivity,
} from '../../core/internal/client-activity.js';
import type {
  KnownLocks,
  LockInspection,
  LockPlace,
  ObservedLock,
  ObservedLocks,
  ObservedParty,
} from '../../core/lock-inspection.js';
import type { ExchangeLimits, ExchangeTopic, PeerReports } from '../../core/peer-reports.js';
import { settledWithin, CompositeReports } from '../inspection/redis-reports.js';
import type { RedLockContext } from './red-lock-hold.js';
import type { RedLockNodes } from './red-lock-nodes.js';

/** Longest wait for one of the servers, in ms. */
const PATIENCE = 1_000;

/** Combined inspection of several independent servers. Servers that do not answer are left out. */
export class RedLockInspection implements LockInspection {
  /** @param parts inspections of the single servers */
  constructor(
    private readonly context: RedLockContext,
    private readonly parts: readonly LockInspection[],
    private readonly nodes: Pick<RedLockNodes, 'states' | 'majority'>,
  ) {}

  get place(): LockPlace {
    const places = this.parts.flatMap(({ place }) => place ?? []);
    return { ...places[0]!, servers: places.flatMap(({ servers }) => servers) };
  }

  nameOf(key: string): string {
    return this.parts[0]!.nameOf(key);
  }

  keyOf(name: string): string {
    return this.parts[0]!.keyOf(name);
  }

  health(): ClientHealth {
    const { states, majority } = this.nodes;
    const { health, state } = clientHealth(states[majority - 1]!, this.context.accepts);
    const whole = states.every((each) => each === 'CONNECTED') ? 'up' : 'degraded';
    return { health: health === 'up' ? whole : 'down', state };
  }

  activity(most: number): UrgentActivity {
    return urgentActivity(this.context, most);
  }

  async locks(known: KnownLocks): Promise<ObservedLocks> {
    const answers = await this.#ask((part) => part.locks(known));
    const byName = new Map<string, ObservedLock>();
    for (const lock of answers.flatMap(({ locks }) => locks)) {
      const parties = [...(byName.get(lock.name)?.parties ?? []), ...lock.parties];
      byName.set(lock.name, { ...lock, parties: merged(parties) });
    }
    return {
      locks: [...byName.values()],
      omitted: Math.max(...answers.map(({ omitted }) => omitted)),
      refusals: answers.flatMap(({ refusals }) => refusals),
    };
  }

  async release(name: string, ids: readonly string[]): Promise<boolean> {
    const released = await this.#ask((part) => part.release(name, ids));
    return released.some(Boolean);
  }

  exchange(limits: ExchangeLimits, topic?: ExchangeTopic): PeerReports {
    const exchanges = this.parts
      .map((part) => part.exchange(limits, topic))
      .filter((exchange) => exchange !== undefined);
    return new CompositeReports(this.context.clock, exchanges);
  }

  #ask<T>(question: (part: LockInspection) => Promise<T>): Promise<T[]> {
    return settledWithin(this.context.clock, PATIENCE, this.parts.map(question));
  }
}

/** Merges the entries of one holder: it has another id on each server, but the same description. */
function merged(parties: readonly ObservedParty[]): ObservedParty[] {
  const holders = new Map<string, ObservedParty>();
  for (const party of parties) {
    const { ids, host, pid, method } = party;
    const who = pid === undefined ? ids.join() : JSON.stringify([host, pid, method]);
    const there = holders.get(who);
    holders.set(who, there ? { ...there, ids: [...new Set([...there.ids, ...ids])] } : party);
  }
  return [...holders.values()];
}
