import type { ProcessReport, ReportedActivity } from './process-report.js';

/** The report of another process; nothing when it makes no sense, as that of another version may. */
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
