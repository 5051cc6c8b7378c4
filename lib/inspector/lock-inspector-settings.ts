import { LockOptionsError } from '../core/index.js';
import type { LockInspectorOptions } from './lock-inspector-options.interface.js';

/** The options of the service, complete. */
export type LockInspectorSettings = Required<
  Pick<LockInspectorOptions, 'every' | 'answerWithin' | 'limit' | 'scan'>
>;

/** @throws LockOptionsError */
export function inspectorSettings({
  every = 250,
  answerWithin = 300,
  limit = 500,
  scan = 1_000,
}: LockInspectorOptions): LockInspectorSettings {
  const settings = { every, answerWithin, limit, scan };
  const least = { every: 250, answerWithin: 1, limit: 1, scan: 0 };
  for (const [option, value] of Object.entries(settings)) {
    const min = least[option as keyof typeof least];
    if (!(Number.isInteger(value) && value >= min && value < 2 ** 31))
      throw new LockOptionsError(option, value, `a whole number of ${min} or more`);
  }
  return settings;
}
