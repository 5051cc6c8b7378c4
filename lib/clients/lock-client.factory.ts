import { type LockClient, LockOptionsError } from '../core/index.js';
import type { BackendOptions } from '../interfaces/lock-client-options.interface.js';
import type {
  LockBackendOptions,
  LockModuleOptions,
} from '../interfaces/lock-module-options.interface.js';
import { BACKENDS, createBackendClient } from '../standalone/create-backend-client.js';

type AppOption = Exclude<keyof LockBackendOptions, keyof BackendOptions>;

/** Options that clients have in a Nest app only. */
const OF_APPS: Record<AppOption, true> = {
  drainTimeout: true,
  logOperations: true,
  onBusy: true,
  onLost: true,
  shutdownTimeout: true,
  unfinished: true,
};

/**
 * Creates a client of a Nest app, not connected yet.
 *
 * @throws LockOptionsError
 */
export async function createLockClient(
  name: string,
  options: LockModuleOptions,
): Promise<LockClient> {
  validateAppOptions(name, options ?? {});
  return await createBackendClient(name, options, Object.keys(OF_APPS));
}

/**
 * Where a setting is missing, a provider may make options without a backend: replicas that are embedded do not exclude each other.
 *
 * @throws LockOptionsError
 */
export function refuseWithoutBackend(name: string, { backend }: LockBackendOptions): void {
  if (backend !== undefined) return;
  throw new LockOptionsError('backend', backend, BACKENDS, { client: name });
}

/** Those of the shutdown are checked where they are used. */
function validateAppOptions(name: string, options: LockModuleOptions): void {
  const { logOperations, onBusy = 'throw', onLost = 'throw' } = options;
  const demand = (holds: boolean, option: AppOption, expected: string) => {
    if (!holds) throw new LockOptionsError(option, options[option], expected, { client: name });
  };
  const isFlag = logOperations === undefined || typeof logOperations === 'boolean';
  demand(isFlag, 'logOperations', '`true` or `false`');
  const isOnBusy = typeof onBusy === 'function' || ['throw', 'skip'].includes(onBusy);
  demand(isOnBusy, 'onBusy', "'throw', 'skip' or a function");
  const isOnLost = typeof onLost === 'function' || ['abort', 'throw', 'ignore'].includes(onLost);
  demand(isOnLost, 'onLost', "'abort', 'throw', 'ignore' or a function");
}
