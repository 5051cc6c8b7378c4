import type { LockErrorContext } from './lock-error.js';

/** `lock "orders" of client "default"`: how every message names the lock it is about. */
export function contextText({ key, client }: LockErrorContext): string {
  const lock = key === undefined ? 'the lock' : `lock ${JSON.stringify(key)}`;
  return client === undefined ? lock : `${lock} of client "${client}"`;
}
