import type { LockInspectorSnapshot } from './lock-inspector-snapshot.interface.js';

/** Do both show the same? Times do not count: they move by a millisecond from look to look. */
export function showsTheSame(one: LockInspectorSnapshot, other: LockInspectorSnapshot): boolean {
  return withoutTimes(one) === withoutTimes(other);
}

function withoutTimes(snapshot: LockInspectorSnapshot): string {
  return JSON.stringify(snapshot.clients, (key, value: unknown) =>
    key === 'since' ? undefined : value,
  );
}
