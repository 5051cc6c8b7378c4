import type { LockRecipe } from '../core/index.js';
import type { ObservedLock, ObservedParty } from '../core/lock-inspection.js';
import { SHOWN_OF_PARTICIPANT } from './lock-inspector-options.interface.js';
import type { InspectedLock, InspectedParty } from './lock-inspector-snapshot.interface.js';
import type { ProcessReport, ReportedActivity } from './process-report.js';

const KINDS: Record<LockRecipe, string> = {
  mutex: 'mutex',
  readLock: 'read/write lock',
  writeLock: 'read/write lock',
  semaphore: 'semaphore',
  semaphoreMutex: 'semaphore mutex',
  multiLock: 'multi-lock',
  leaderLatch: 'leader latch',
  leaderSelector: 'leader selector',
};

interface Told {
  readonly activity: ReportedActivity;
  readonly process: ProcessReport;
}

interface Draft {
  key: string;
  kind: string;
  readonly holders: InspectedParty[];
  readonly queue: InspectedParty[];
}

/**
 * Merges the reports of the servers and of the processes. The servers know the holders, and the order of a queue that they
 * keep; the processes know the owner of each entry, and the waiters that are in no queue.
 *
 * @param surveyed undefined if the servers did not answer: the result is then only what the processes believe
 */
export function mergeLocks(
  reports: readonly ProcessReport[],
  surveyed: readonly ObservedLock[] | undefined,
  keyOf: (name: string) => string,
): InspectedLock[] {
  const told = reports.flatMap((process) =>
    process.activity.map((activity) => ({ activity, process })),
  );
  const byId = new Map(told.flatMap((each) => each.activity.ids.map((id) => [id, each] as const)));
  const parties = new Map<Told, InspectedParty & { ids: string[] }>();
  const drafts = new Map<string, Draft>();
  const draft = (name: string, kind: string, key = keyOf(name)) => {
    const there = drafts.get(name) ?? { key, kind, holders: [], queue: [] };
    drafts.set(name, there);
    return there;
  };

  for (const { name, kind, parties: found } of surveyed ?? [])
    for (const party of found) {
      const who = byId.get(party.ids.find((id) => byId.has(id)) ?? '');
      const same = who && parties.get(who);
      if (same) {
        same.ids.push(...party.ids); // another permit, or another server
        continue;
      }
      const shown = { ...(who ? ofProcess(who) : {}), ...ofServer(party, who) };
      if (who) parties.set(who, shown);
      const { holders, queue } = draft(name, kind);
      (party.state === 'held' ? holders : queue).push(shown);
    }

  const unseen = told.filter((each) => !parties.has(each));
  unseen.sort((a, b) => a.activity.since - b.activity.since);
  for (const each of unseen) {
    const { state, name, key, recipe } = each.activity;
    if (state === 'held' && surveyed) continue; // released already, or acquired since the survey
    const { holders, queue } = draft(name, KINDS[recipe], key);
    (state === 'held' ? holders : queue).push(ofProcess(each));
  }
  for (const { activity } of told) {
    const there = drafts.get(activity.name);
    if (there) Object.assign(there, { key: activity.key, kind: KINDS[activity.recipe] });
  }
  return [...drafts]
    .map(([name, each]) => ({ name, ...shown(each), ...countsOf(name, reports) }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

function ofServer(party: ObservedParty, who: Told | undefined): InspectedParty & { ids: string[] } {
  const { ids, data, since, mode, host, pid, method, fencingToken } = party;
  const told = { mode, host, pid, method, fencingToken };
  const known = Object.entries(told).filter(([, value]) => value !== undefined);
  // For a process that reports, the node data adds nothing, and the process's own time is more accurate.
  const own = who ? { since: who.activity.since } : { since, data };
  return { ...Object.fromEntries(known), ...own, ids: [...ids] };
}

function ofProcess({ activity, process }: Told): InspectedParty {
  const { ids, method, participant, since, recipe, fencingToken } = activity;
  const mode = recipe === 'readLock' ? 'read' : recipe === 'writeLock' ? 'write' : undefined;
  const { host, pid } = process;
  return { ids, mode, host, pid, method, participant, since, fencingToken };
}

function shown({ key, kind, holders, queue }: Draft): Draft {
  const isElection = kind === KINDS.leaderLatch || kind === KINDS.leaderSelector;
  if (!isElection) return { key, kind, holders, queue };
  return { key, kind, holders: holders.map(asParticipant), queue: queue.map(asParticipant) };
}

/** Without a report of its process, the id is in the data of its node; on Redis it is the `method` of its acquire. */
function asParticipant({ method, data, ...party }: InspectedParty): InspectedParty {
  const participant = (party.participant ?? method ?? data)?.slice(0, SHOWN_OF_PARTICIPANT);
  return { ...party, participant };
}

function countsOf(name: string, reports: readonly ProcessReport[]) {
  const counts = reports.map(({ locks }) => (Object.hasOwn(locks, name) ? locks[name]! : [0, 0]));
  const sum = (i: 0 | 1) => counts.reduce((total, each) => total + each[i], 0);
  return { lost: sum(0), timedOut: sum(1) };
}
