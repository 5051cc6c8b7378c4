import type { CanActivate, ModuleMetadata, Type } from '@nestjs/common';

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
