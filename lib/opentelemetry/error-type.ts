import { LockError } from '../index.js';

/** The attribute `error.type`: the code of an error of ours, or what OpenTelemetry calls all others. */
export function errorType(error: unknown): string {
  return error instanceof LockError ? error.code : '_OTHER';
}
