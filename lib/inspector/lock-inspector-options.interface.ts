import type { CanActivate, ModuleMetadata, Type } from '@nestjs/common';
import { LockOptionsError } from '../core/index.js';

/** Injection token of the inspector's settings. */
export const LOCK_INSPECTOR_SETTINGS: unique symbol = Symbol.for(
  'nestjs-interlock:inspector (import LockInspectorModule.forRoot())',
);

/** Maximum number of characters shown of an election participant's id, which may be long. */
export const SHOWN_OF_PARTICIPANT = 200;

/** Header value that the page sends with a release request; a form of another site cannot send it. */
export const REQUESTED_WITH = 'nestjs-interlock';

/** A guard, as for `@UseGuards()`. */
export type InspectorGuard = Type<CanActivate> | CanActivate;

/** Options of `LockInspectorModule.forRoot`. */
export interface LockInspectorOptions {
  /**
   * Path of the page, below the global prefix; `false` provides the service without a page.
   *
   * @default 'locks'
   */
  readonly path?: string | false;
  /** Guards of the page. Without them, all access is denied; `[]` lets anyone look, and release only with `releaseGuards`. */
  readonly guards?: readonly InspectorGuard[];
  /** Additional guards of a release by force. Default: `guards` suffice, if there is at least one. */
  readonly releaseGuards?: readonly InspectorGuard[];
  /** Modules with the providers that the guards depend on. */
  readonly imports?: ModuleMetadata['imports'];
  /**
   * Pause in ms between two snapshots while there are subscribers, at least 250.
   *
   * @default 250
   */
  readonly every?: number;
  /**
   * Time in ms within which other processes have to report.
   *
   * @default 300
   */
  readonly answerWithin?: number;
  /**
   * Maximum number of locks shown per client.
   *
   * @default 500
   */
  readonly limit?: number;
  /**
   * Number of keys of a Redis server that a snapshot scans for locks that no process reports; 0 disables the scan.
   *
   * @default 1000
   */
  readonly scan?: number;
}

/** The options of the service, with defaults applied. */
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
