import type { CanActivate, ModuleMetadata, Type } from '@nestjs/common';
import { LockOptionsError } from '../core/index.js';
import { validateOptionNames } from '../core/internal/option-names.js';

/** Injection token of the inspector's settings. */
export const LOCK_INSPECTOR_SETTINGS: unique symbol = Symbol.for(
  'nestjs-interlock:inspector (import LockInspectorModule.forRoot())',
);

/** Maximum number of characters shown of a method, and of the id of an election's participant, which may be long. */
export const SHOWN = 200;

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
  readonly path?: string | false | undefined;
  /** Name of the application, in the head and the title of the page. Default: none. */
  readonly app?: string | undefined;
  /** Environment, such as `production`: first in the title of the page, and marked in its head. Default: none. */
  readonly environment?: string | undefined;
  /** Guards of the page. Without them, all access is denied; `[]` lets anyone look, and release only with `releaseGuards`. */
  readonly guards?: readonly InspectorGuard[] | undefined;
  /** Additional guards of a release by force. Default: `guards` suffice, if there is at least one. */
  readonly releaseGuards?: readonly InspectorGuard[] | undefined;
  /**
   * Hosts by which browsers reach the page, such as `locks.example.com` or, with the port, `locks.example.com:8443`. Requests
   * by any other are refused, as a site could have its own name resolve to this server (DNS rebinding).
   *
   * @default any to look; IP addresses and `localhost` to release
   */
  readonly hosts?: readonly string[] | undefined;
  /**
   * Returns the user of a request, for the log line about a lock that was released by force. If it throws or rejects, nothing
   * is released.
   *
   * @default the line names no user
   */
  readonly userOf?:
    ((request: never) => string | undefined | Promise<string | undefined>) | undefined;
  /** Modules with the providers that the guards depend on. */
  readonly imports?: ModuleMetadata['imports'] | undefined;
  /**
   * Pause in ms between two snapshots while there are subscribers, at least 250.
   *
   * @default 1000
   */
  readonly every?: number | undefined;
  /**
   * Time in ms within which other processes have to report.
   *
   * @default 300
   */
  readonly answerWithin?: number | undefined;
  /**
   * Maximum number of locks shown per client.
   *
   * @default 500
   */
  readonly limit?: number | undefined;
  /**
   * Number of keys or nodes of a server that a snapshot examines for locks that no process reports, such as those of Java
   * clients; the next snapshot goes on with the next ones. 0: none. A directory of ZooKeeper with more than 20 times as many
   * children is not listed at all.
   *
   * @default 1000
   */
  readonly scan?: number | undefined;
  /**
   * Maximum number of pages that are open at a time; another one is refused with 503.
   *
   * @default 20
   */
  readonly watchers?: number | undefined;
  /**
   * Maximum number of other processes per client whose reports are read.
   *
   * @default 100
   */
  readonly processes?: number | undefined;
  /**
   * Maximum length in bytes of the report that this process gives to others about a client, from 4,096 to 524,288. What has
   * no room in it is counted. Keep it far below `jute.maxbuffer` of ZooKeeper servers.
   *
   * @default 262144
   */
  readonly reportSize?: number | undefined;
}

/** The options of the service, with defaults applied. */
export type LockInspectorSettings = Required<
  Pick<
    LockInspectorOptions,
    'every' | 'answerWithin' | 'limit' | 'scan' | 'watchers' | 'processes' | 'reportSize'
  >
>;

/** Least and greatest value of each number among the options. */
const RANGES: Record<keyof LockInspectorSettings, readonly [least: number, greatest: number]> = {
  every: [250, 2 ** 31 - 1],
  answerWithin: [1, 2 ** 31 - 1],
  limit: [1, 2 ** 31 - 1],
  scan: [0, 2 ** 31 - 1],
  watchers: [1, 10_000],
  processes: [1, 10_000],
  reportSize: [4_096, 524_288],
};

/** All options; typed so that none is forgotten. */
const KNOWN: Record<keyof LockInspectorOptions, true> = {
  path: true,
  app: true,
  environment: true,
  guards: true,
  releaseGuards: true,
  hosts: true,
  userOf: true,
  imports: true,
  every: true,
  answerWithin: true,
  limit: true,
  scan: true,
  watchers: true,
  processes: true,
  reportSize: true,
};

/** Refuses what would be ignored otherwise, such as `guard`, and names that are no text. */
function expectKnown(options: LockInspectorOptions): void {
  validateOptionNames(options, Object.keys(KNOWN));
  for (const option of ['app', 'environment'] as const) {
    const value: unknown = options[option];
    if (value !== undefined && typeof value !== 'string')
      throw new LockOptionsError(option, value, 'a string to show on the page');
  }
}

/** @throws LockOptionsError */
export function inspectorSettings(options: LockInspectorOptions): LockInspectorSettings {
  expectKnown(options);
  return numbersOf(options);
}

function numbersOf({
  every = 1_000,
  answerWithin = 300,
  limit = 500,
  scan = 1_000,
  watchers = 20,
  processes = 100,
  reportSize = 262_144,
}: LockInspectorOptions): LockInspectorSettings {
  const settings = { every, answerWithin, limit, scan, watchers, processes, reportSize };
  for (const [option, value] of Object.entries(settings)) {
    const [least, greatest] = RANGES[option as keyof LockInspectorSettings];
    if (!(Number.isInteger(value) && value >= least && value <= greatest))
      throw new LockOptionsError(option, value, `a whole number from ${least} to ${greatest}`);
  }
  return settings;
}
