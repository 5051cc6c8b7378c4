import { hostname } from 'node:os';
import type { LockSurvey } from '../core/lock-inspection.js';
import type { PlacedActivity } from '../core/internal/client-activity.js';
import type { LockCounts } from './lock-counts.js';
import { SHOWN_OF_PARTICIPANT } from './lock-inspector.constants.js';
import type { ProcessReport, ReportedActivity } from './process-report.js';

/** Most acquires, and most counts of locks, that are told: a report has to fit into a node of ZooKeeper. */
const MOST = 1_000;

/** What this process tells of a client. */
export function makeReport(
  id: string,
  { nameOf, activities }: { nameOf: LockSurvey['nameOf']; activities: readonly PlacedActivity[] },
  counts: LockCounts,
): ProcessReport {
  const now = Date.now();
  const name = (key: string) => {
    try {
      return nameOf(key);
    } catch {
      return key; // of a multi-lock, which has none of its own
    }
  };
  const activity = activities.map((each): ReportedActivity => {
    const { state, key, recipe, method, forMs, holders, place } = each;
    const participant = each.participant?.slice(0, SHOWN_OF_PARTICIPANT);
    const fencingToken = each.fencingToken?.toString();
    const ids = state === 'held' ? [...holders] : place === undefined ? [] : [place];
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
