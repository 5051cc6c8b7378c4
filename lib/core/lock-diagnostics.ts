import type { LockEvents } from './lock-events.js';

/**
 * The messages of the channels of `node:diagnostics_channel`: what each client of the process tells its listeners, and the
 * name of the client.
 *
 * @example
 * ```ts
 * subscribe('nestjs-interlock:lost', (message) => {
 *   const { client, key } = message as LockDiagnostics['nestjs-interlock:lost'];
 * });
 * ```
 */
export type LockDiagnostics = {
  readonly [E in keyof LockEvents as `nestjs-interlock:${E}`]: LockEvents[E] & {
    readonly client: string;
  };
};
