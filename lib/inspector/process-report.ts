import { hostname } from 'node:os';
import type { LockRecipe } from '../core/index.js';
import type { QueuedActivity } from '../core/internal/client-activity.js';
import type { LockInspection } from '../core/lock-inspection.js';
import { SHOWN_OF_PARTICIPANT } from './lock-inspector-options.interface.js';
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
}

/** What one client of one process reports to the other processes. */
export interface ProcessReport {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly activity: readonly ReportedActivity[];
  readonly held: number;
  readonly waiting: number;
  readonly lost: number;
  readonly timedOut: number;
  /** By the name of the lock: how often it was lost, and how often it timed out. */
  readonly locks: Readonly<Record<string, readonly [number, number]>>;
}

/** Maximum number of acquires, and of lock counts, in a report, which has to fit into a ZooKeeper node. */
const MOST = 1_000;

/** Creates the report of this process about a client. */
export function makeReport(
  id: string,
  {
    nameOf,
    activities,
  }: { nameOf: LockInspection['nameOf']; activities: readonly QueuedActivity[] },
  counts: LockCounts,
): ProcessReport {
  const now = Date.now();
  const name = (key: string) => {
    try {
      return nameOf(key);
    } catch {
      return key; // a multi-lock has no name of its own
    }
  };
  const activity = activities.map((each): ReportedActivity => {
    const { state, key, recipe, method, forMs, holders, waiterId } = each;
    const participant = each.participant?.slice(0, SHOWN_OF_PARTICIPANT);
    const fencingToken = each.fencingToken?.toString();
    const ids = state === 'held' ? [...holders] : waiterId === undefined ? [] : [waiterId];
    const since = Math.round(now - forMs);
    const about = { name: each.name ?? name(key), key, recipe, method, participant };
    return { state, ...about, since, ids, fencingToken };
  });
  activity.sort((a, b) => a.since - b.since);
  const held = activity.filter(({ state }) => state === 'held').length;
  return {
    id,
    host: hostname(),
    pid: process.pid,
    activity: activity.slice(0, MOST),
    held,
    waiting: activity.length - held,
    lost: counts.lost,
    timedOut: counts.timedOut,
    locks: Object.fromEntries(
      [...counts.byKey].slice(-MOST).map(([key, both]) => [name(key), both]),
    ),
  };
}

/** Parses the report of another process; undefined if it is malformed, as one of another version may be. */
export function parseReport(text: string): ProcessReport | undefined {
  try {
    const report = JSON.parse(text) as ProcessReport;
    const { id, host, pid, activity, held, waiting, lost, timedOut, locks } = report;
    const isReport =
      areTexts(id, host) &&
      areNumbers(pid, held, waiting, lost, timedOut) &&
      Array.isArray(activity) &&
      activity.every(isActivity) &&
      Object.values(locks).every((counts) => Array.isArray(counts) && areNumbers(...counts));
    return isReport ? report : undefined;
  } catch {
    return undefined;
  }
}

function isActivity(activity: ReportedActivity): boolean {
  const { state, name, key, recipe, since, ids, fencingToken = '', participant = '' } = activity;
  const isState = state === 'held' || state === 'waiting';
  const areIds = Array.isArray(ids) && ids.every((id) => typeof id === 'string');
  return (
    isState && areIds && areTexts(name, key, recipe, fencingToken, participant) && areNumbers(since)
  );
}

function areTexts(...values: readonly unknown[]): boolean {
  return values.every((value) => typeof value === 'string');
}

function areNumbers(...values: readonly unknown[]): boolean {
  return values.every((value) => Number.isFinite(value));
}
