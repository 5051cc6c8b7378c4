import { hostname } from 'node:os';
import type { LockRecipe } from '../core/index.js';
import { RECENT, type UrgentActivity } from '../core/internal/client-activity.js';
import { EventLoopStalls } from '../core/internal/event-loop-stalls.js';
import type { LockInspection } from '../core/lock-inspection.js';
import { LONGEST_REPORT } from '../core/peer-reports.js';
import { SHOWN } from './lock-inspector-options.interface.js';
import type { LockCounts } from './lock-inspector-snapshot.interface.js';

/** State of an acquire, as reported by its process. */
export interface ReportedActivity {
  readonly state: 'waiting' | 'held';
  /** Name on the servers. */
  readonly name: string;
  readonly key: string;
  readonly recipe: LockRecipe;
  readonly method?: string;
  /** In an election, the id of the participant. */
  readonly participant?: string;
  /** Start of the hold or the wait, in ms since 1970. */
  readonly since: number;
  /** Ids on the servers. */
  readonly ids: readonly string[];
  /** Fencing token, if the process knows it. */
  readonly fencingToken?: string;
  /** How often the lock was handed on, if it was. */
  readonly handOffs?: number;
}

/** What one client of one process reports to the other processes. */
export interface ProcessReport {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly activity: readonly ReportedActivity[];
  /** Number of acquires that have no room in `activity`. */
  readonly omitted: number;
  readonly held: number;
  readonly waiting: number;
  /** This and what follows is 0 in the reports of earlier versions. */
  readonly kept: number;
  readonly endangered: number;
  readonly stalledMs: number;
  readonly lost: number;
  readonly timedOut: number;
  /** By the name of the lock: how often it was lost, and how often it timed out. */
  readonly locks: Readonly<Record<string, readonly [number, number]>>;
  /** Number of locks with counts that have no room in `locks`. */
  readonly uncounted: number;
}

/** Kinds of locks as shown, by recipe. */
export const KINDS: Readonly<Record<LockRecipe, string>> = {
  mutex: 'mutex',
  readLock: 'read/write lock',
  writeLock: 'read/write lock',
  semaphore: 'semaphore',
  semaphoreMutex: 'semaphore mutex',
  multiLock: 'multi-lock',
  leaderLatch: 'leader latch',
  leaderSelector: 'leader selector',
};

/** Maximum number of acquires, of ids of one acquire, and of lock counts in a report. */
export const MOST = 1_000;

/** Maximum number of characters of a name, a key or an id; a longer one, of many locks as one, is cut. */
const LONGEST_TEXT = 4_096;

/** Maximum number of characters of a host, the id of a process, or a fencing token. */
const SHORT_TEXT = 255;

/** Bytes that are kept for all except the acquires and the counts. */
const FRAME = 1_024;

/**
 * Creates the report of this process about a client. It has the first of the acquires and the latest counts, as far as
 * they fit.
 *
 * @param maxBytes maximum length of the report as JSON
 */
export function makeReport(
  id: string,
  {
    nameOf,
    activities,
    unlisted = { held: 0, waiting: 0 },
    endangered = 0,
    kept = 0,
  }: Pick<LockInspection, 'nameOf'> & Pick<UrgentActivity, 'activities'> & Partial<UrgentActivity>,
  counts: LockCounts,
  maxBytes: number,
): ProcessReport {
  const now = Date.now();
  const name = (key: string) => {
    try {
      return nameOf(key);
    } catch {
      return key; // a multi-lock has no name of its own
    }
  };
  const room = { bytes: Math.max(0, maxBytes - FRAME) };
  const latest = [...counts.byKey]
    .slice(-MOST)
    .reverse()
    .map(([key, both]) => [name(key).slice(0, LONGEST_TEXT), both] as const);
  const counted = thatFit(latest, { bytes: room.bytes / 4 }, (each) => each);
  room.bytes -= bytesOf(counted);
  const activity = thatFit(activities.slice(0, MOST), room, (each): ReportedActivity => {
    const { state, key, recipe, method, forMs, holders, waiterId } = each;
    const ids = state === 'held' ? holders : waiterId === undefined ? [] : [waiterId];
    return {
      state,
      name: (each.name ?? name(key)).slice(0, LONGEST_TEXT),
      key: key.slice(0, LONGEST_TEXT),
      recipe,
      method: method?.slice(0, SHOWN),
      participant: each.participant?.slice(0, SHOWN),
      since: Math.round(now - forMs),
      ids: ids.slice(0, MOST),
      fencingToken: each.fencingToken?.toString(),
      handOffs: each.handOffs,
    };
  });
  const held = activities.filter(({ state }) => state === 'held').length;
  return {
    id,
    host: hostname(),
    pid: process.pid,
    activity,
    omitted: activities.length - activity.length + unlisted.held + unlisted.waiting,
    held: held + unlisted.held,
    waiting: activities.length - held + unlisted.waiting,
    kept,
    endangered,
    stalledMs: Math.round(EventLoopStalls.shared.longestWithin(RECENT)?.ms ?? 0),
    lost: counts.lost,
    timedOut: counts.timedOut,
    locks: Object.fromEntries(counted),
    uncounted: counts.byKey.size - counted.length,
  };
}

/** Those that fit into the room; one that does not leaves its place to the shorter ones that follow. */
function thatFit<T, R>(all: readonly T[], room: { bytes: number }, shown: (each: T) => R): R[] {
  return all.flatMap((each) => {
    const entry = shown(each);
    const bytes = bytesOf(entry) + 1;
    if (bytes > room.bytes) return [];
    room.bytes -= bytes;
    return [entry];
  });
}

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

/**
 * Parses the report of another process; `undefined` if it makes no sense, as one of another version may. Any client that
 * may write to the exchange can write anything, so every field is checked, and no other is kept.
 */
export function parseReport(text: string): ProcessReport | undefined {
  if (text.length > LONGEST_REPORT) return undefined;
  try {
    const { activity, locks, omitted = 0, uncounted = 0, ...rest } = fieldsOf(JSON.parse(text));
    const { id, host, pid, held, waiting, lost, timedOut } = rest;
    const { kept = 0, endangered = 0, stalledMs = 0 } = rest;
    if (!Array.isArray(activity) || activity.length > MOST) return undefined;
    const counts = Object.entries(fieldsOf(locks));
    if (counts.length > MOST) return undefined;
    return {
      id: textOf(id, SHORT_TEXT),
      host: textOf(host, SHORT_TEXT),
      pid: countOf(pid),
      activity: activity.map(activityOf),
      omitted: countOf(omitted),
      held: countOf(held),
      waiting: countOf(waiting),
      kept: countOf(kept),
      endangered: countOf(endangered),
      stalledMs: countOf(stalledMs),
      lost: countOf(lost),
      timedOut: countOf(timedOut),
      locks: Object.fromEntries(counts.map(([name, both]) => [textOf(name), pairOf(both)])),
      uncounted: countOf(uncounted),
    };
  } catch {
    return undefined;
  }
}

function activityOf(value: unknown): ReportedActivity {
  const { state, name, key, recipe, ...rest } = fieldsOf(value);
  const { method, participant, since, ids, fencingToken, handOffs } = rest;
  if (state !== 'held' && state !== 'waiting') throw new TypeError('no state');
  if (typeof recipe !== 'string' || !Object.hasOwn(KINDS, recipe)) throw new TypeError('no recipe');
  if (!Array.isArray(ids) || ids.length > MOST) throw new TypeError('no ids');
  return {
    state,
    name: textOf(name),
    key: textOf(key),
    recipe: recipe as LockRecipe,
    ...(method !== undefined && { method: textOf(method).slice(0, SHOWN) }),
    ...(participant !== undefined && { participant: textOf(participant).slice(0, SHOWN) }),
    since: timeOf(since),
    ids: ids.map((id) => textOf(id)),
    ...(fencingToken !== undefined && { fencingToken: textOf(fencingToken, SHORT_TEXT) }),
    ...(handOffs !== undefined && { handOffs: countOf(handOffs) }),
  };
}

function fieldsOf(value: unknown): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Record<string, unknown>;
  throw new TypeError('not an object');
}

function textOf(value: unknown, longest = LONGEST_TEXT): string {
  if (typeof value === 'string' && value.length <= longest) return value;
  throw new TypeError('no text');
}

function countOf(value: unknown): number {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw new TypeError('no count');
}

function pairOf(value: unknown): [number, number] {
  if (!Array.isArray(value) || value.length !== 2) throw new TypeError('no pair');
  return [countOf(value[0]), countOf(value[1])];
}

/** Latest time that a `Date` can have, in ms since 1970. */
const END_OF_TIME = 8.64e15;

function timeOf(value: unknown): number {
  if (Number.isFinite(value) && Math.abs(value as number) <= END_OF_TIME) return value as number;
  throw new TypeError('no time');
}
