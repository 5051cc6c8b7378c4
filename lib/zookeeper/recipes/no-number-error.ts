import { LockKeyError } from '../../core/errors/index.js';
import type { LockSettings } from './lock-settings.js';

/** The error for a node that holds something else than the number it was asked for. */
export function noNumberError(
  { key, path }: LockSettings,
  client: string,
  bytes: Buffer,
): LockKeyError {
  return new LockKeyError(key, `${path} holds ${bytes.length} bytes and no number`, { client });
}
