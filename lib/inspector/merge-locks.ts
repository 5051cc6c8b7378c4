import type { ObservedLock, ObservedParty } from '../core/lock-inspection.js';
import { SHOWN } from './lock-inspector-options.interface.js';
import type { InspectedLock, InspectedParty } from './lock-inspector-snapshot.interface.js';
import { KINDS, type ProcessReport, type ReportedActivity } from './process-report.js';

/** An acquire, and the process that reports it. */
interface Reported {
  readonly activity: ReportedActivity;
  readonly process: ProcessReport;
}

interface Draft {
  readonly key: string;
  kind: string;
  readonly holders: InspectedParty[];
  readonly queue: InspectedParty[];
}

/** Places for reported acquires in a snapshot. Most acquires take one. */
const ROOM = 5_000;

/** Number of ids, and of characters of texts, for which an acquire takes another place: merging and showing it costs more. */
const MANY_IDS = 10;
const MUCH_TEXT = 500;

function placesOf({ name, key, ids }: ReportedActivity): number {
  const length = ids.reduce((sum, id) => sum + id.length, name.length + key.length);
  return 1 + Math.floor(ids.length / MANY_IDS) + Math.floor(length / MUCH_TEXT);
}

/** In each turn, the next acquire of the report; or nothing, as one that takes several places waits for as many turns. */
function* turnsOf(process: ProcessReport): Generator<Reported | undefined, void> {
  for (const activity of process.activity) {
    for (let missing = placesOf(activity) - 1; missing > 0; missing--) yield undefined;
    yield { activity, process };
  }
}

/**
 * The acquires of all reports as far as there is room, in turn: the first of each report, then the second of each, and so on. So a
 * process with many acquires or large ones, or one that makes them up, does not crowd out the others.
 */
export function inTurn(reports: readonly ProcessReport[], room = ROOM): Reported[] {
  const reported: Reported[] = [];
  const queues = new Set(reports.map(turnsOf));
  let places = room;
  while (queues.size > 0)
    for (const queue of queues) {
      const { done, value } = queue.next();
      const taken = value === undefined ? 0 : placesOf(value.activity);
      if (done || taken > places) {
        queues.delete(queue);
        continue;
      }
      places -= taken;
      if (value !== undefined) reported.push(value);
    }
  return reported;
}

/** The locks that are shown, and the number of those beyond the limit. */
interface MergedLocks {
  readonly locks: InspectedLock[];
  readonly omitted: number;
}

/**
 * Merges the reports of the servers and of the processes. The servers know the holders, and the order of a queue that they
 * keep; the processes know the owner of each entry, and the waiters that are in no queue.
 *
 * A report may be made up. It can describe entries that no other report claims, and add waiters; it cannot hide a lock that the
 * servers know, or change its key, and is not believed about what this process reports itself.
 *
 * @param reports that of this process first
 * @param surveyed undefined if the servers did not answer: the result is then only what the processes believe
 * @param limit maximum number of locks; those that the servers know come first
 */
export function mergeLocks(
  reports: readonly ProcessReport[],
  surveyed: readonly ObservedLock[] | undefined,
  keyOf: (name: string) => string,
  limit = Infinity,
): MergedLocks {
  const reported = inTurn(reports);
  const claims = new Claims(reported, reports[0]);
  const parties = new Map<Reported, InspectedParty & { ids: string[] }>();
  const drafts = new Map<string, Draft>();
  const draft = (name: string, kind: string, key: string) => {
    const there = drafts.get(name) ?? { key, kind, holders: [], queue: [] };
    drafts.set(name, there);
    return there;
  };

  for (const { name, kind, parties: found } of surveyed ?? [])
    for (const party of found) {
      const claimed = claims.of(name, party.ids);
      const same = claimed && parties.get(claimed);
      if (same && party.state === 'held' && isOfSeveral(claimed)) {
        same.ids.push(...party.ids); // another permit, or another server
        continue;
      }
      const claim = same ? undefined : claimed;
      const shown = { ...(claim ? ofProcess(claim) : {}), ...ofServer(party, claim) };
      if (claim) parties.set(claim, shown);
      const { holders, queue } = draft(name, kind, keyOf(name));
      (party.state === 'held' ? holders : queue).push(shown);
    }

  const unseen = reported.filter((each) => !parties.has(each));
  unseen.sort((a, b) => a.activity.since - b.activity.since);
  for (const each of unseen) {
    const { state, name, key, recipe } = each.activity;
    if (state === 'held' && surveyed) continue; // released already, or acquired since the survey
    const { holders, queue } = draft(name, KINDS[recipe], key);
    (state === 'held' ? holders : queue).push(ofProcess(each));
  }
  // Processes know more exactly what a mutex of the servers is: first of all this one, then those with an entry in it.
  const isFirst = (each: Reported) => each.process === reports[0];
  const others = reported.filter((each) => !isFirst(each));
  const named = new Set<string>();
  for (const each of [
    ...reported.filter(isFirst),
    ...others.filter((other) => parties.has(other)),
    ...others,
  ]) {
    const { name, recipe } = each.activity;
    const there = drafts.get(name);
    if (there !== undefined && !named.has(name)) there.kind = KINDS[recipe];
    named.add(name);
  }
  const shownRows = [...drafts].slice(0, limit); // those that the servers know were drafted first
  return {
    locks: shownRows
      .map(([name, each]) => ({ name, ...shown(each), ...countsOf(name, reports) }))
      .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)),
    omitted: drafts.size - shownRows.length,
  };
}

/** Whether one acquire may hold several entries of a lock: permits, or a mutex on several servers. */
function isOfSeveral({ activity: { state, recipe } }: Reported): boolean {
  return state === 'held' && KINDS[recipe] !== KINDS.readLock;
}

/** Which acquire has the entry with an id in a lock. */
class Claims {
  /** By the name of the lock and the id; `undefined` if several processes claim the entry. */
  readonly #byName = new Map<string, Map<string, Reported | undefined>>();

  /** @param own the report of this process, which is believed in any case */
  constructor(reported: readonly Reported[], own?: ProcessReport) {
    for (const each of reported) {
      const { name, ids } = each.activity;
      const byId = this.#byName.get(name) ?? new Map<string, Reported | undefined>();
      this.#byName.set(name, byId);
      for (const id of ids) {
        const before = byId.get(id);
        if (!byId.has(id) || (each.process === own && before?.process !== own)) byId.set(id, each);
        else if (before?.process !== own && before?.process !== each.process)
          byId.set(id, undefined);
      }
    }
  }

  of(name: string, ids: readonly string[]): Reported | undefined {
    const byId = this.#byName.get(name);
    return ids.map((id) => byId?.get(id)).find((claim) => claim !== undefined);
  }
}

function ofServer(
  party: ObservedParty,
  claim: Reported | undefined,
): InspectedParty & { ids: string[] } {
  const { ids, data, since, mode, host, pid, fencingToken } = party;
  // Where the lock was handed on, the servers know the first caller.
  const method = claim?.activity.handOffs ? undefined : party.method;
  const stated = { mode, host, pid, method, fencingToken };
  const known = Object.entries(stated).filter(([, value]) => value !== undefined);
  // For a process that reports, the node data adds nothing, and the process's own time is more accurate.
  const own = claim ? { since: claim.activity.since } : { since, data };
  return { ...Object.fromEntries(known), ...own, ids: [...ids] };
}

function ofProcess({ activity, process }: Reported): InspectedParty {
  const { ids, method, participant, since, recipe, fencingToken, handOffs } = activity;
  const mode = recipe === 'readLock' ? 'read' : recipe === 'writeLock' ? 'write' : undefined;
  const { host, pid } = process;
  return { ids, mode, host, pid, method, participant, since, fencingToken, handOffs };
}

function shown({
  key,
  kind,
  holders,
  queue,
}: Draft): Pick<InspectedLock, 'key' | 'kind' | 'holders' | 'queue'> {
  const isElection = kind === KINDS.leaderLatch || kind === KINDS.leaderSelector;
  if (!isElection) return { key, kind, holders, queue };
  return { key, kind, holders: holders.map(asParticipant), queue: queue.map(asParticipant) };
}

/** Without a report of its process, the id is in the data of its node; on Redis it is the `method` of its acquire. */
function asParticipant({ method, data, ...party }: InspectedParty): InspectedParty {
  const participant = (party.participant ?? method ?? data)?.slice(0, SHOWN);
  return { ...party, participant };
}

function countsOf(name: string, reports: readonly ProcessReport[]) {
  const counts = reports.map(({ locks }) => (Object.hasOwn(locks, name) ? locks[name]! : [0, 0]));
  const sum = (i: 0 | 1) => counts.reduce((total, each) => total + each[i], 0);
  return { lost: sum(0), timedOut: sum(1) };
}
