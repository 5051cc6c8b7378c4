import type { CanActivate, ModuleMetadata, Type } from '@nestjs/common';
import { LockOptionsError } from '../core/index.js';

/** Token of the settings of the inspector. */
export const LOCK_INSPECTOR_SETTINGS: unique symbol = Symbol.for(
  'nestjs-interlock:inspector (import LockInspectorModule.forRoot())',
);

/** Of the id of a participant in an election, which may be long, so many characters are shown. */
export const SHOWN_OF_PARTICIPANT = 200;

/** What the page sends with a request to release: no form of another site can. */
export const REQUESTED_WITH = 'nestjs-interlock';

/** A guard, as for `@UseGuards()`. */
export type InspectorGuard = Type<CanActivate> | CanActivate;

/** Options of `LockInspectorModule.forRoot`. */
export interface LockInspectorOptions {
  /**
   * Where the page is, below the global prefix; `false`: nowhere, there is the service only.
   *
   * @default 'locks'
   */
  readonly path?: string | false;
  /** Who may see the page. Without this option nobody may; `[]` lets everybody look, and nobody release. */
  readonly guards?: readonly InspectorGuard[];
  /** Who may release by force: these guards have to agree too. Default: those of `guards` are enough, if there is one. */
  readonly releaseGuards?: readonly InspectorGuard[];
  /** Modules of which the guards need providers. */
  readonly imports?: ModuleMetadata['imports'];
  /**
   * Pause between two looks while somebody watches, in ms, 250 at least.
   *
   * @default 250
   */
  readonly every?: number;
  /**
   * How long other processes have to tell what they are at, in ms.
   *
   * @default 300
   */
  readonly answerWithin?: number;
  /**
   * Most locks of a client that are shown.
   *
   * @default 500
   */
  readonly limit?: number;
  /**
   * Keys of a Redis server that a look goes over, to find locks that no process tells of; 0: none.
   *
   * @default 1000
   */
  readonly scan?: number;
}

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
