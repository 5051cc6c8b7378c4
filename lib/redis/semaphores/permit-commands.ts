import type { LockName } from '../connection/lock-name.js';
import type { IdempotentRequests } from '../locks/idempotent-requests.js';
import { type LockCommands, waitersOf } from '../locks/lock-commands.js';
import { permitIdsOf } from './permit-holder.js';
import type { RecipeContext } from '../recipe-context.js';
import { permitAcquire, permitRelease, permitReleaseIds, permitToken } from '../scripts/index.js';

/**
 * Commands of Redisson's `RPermitExpirableSemaphore`. Holder ids are made by `newPermitHolder`.
 *
 * @param permits intended number of permits; if `undefined`, the number on the server applies
 * @param isFair whether waiters of this library are served in order of arrival
 */
export function permitCommands(
  context: RecipeContext,
  name: LockName,
  permits: number | undefined,
  isFair: boolean,
): LockCommands {
  const { redisKey, permitTimeouts, semaphoreChannel, wantedPermits, permitQueue, alive } = name;
  const { watchdogTimeout, connection } = context;
  const timeToLive = permits === undefined ? '' : context.semaphoreTimeToLive;
  const fieldOf = (holder: string) => Buffer.from(holder, 'hex');
  return {
    redisKey,
    kind: 'permits',
    localQueue: isFair ? 'queue' : 'waiters',
    leavesQueueEntry: true,
    maxSleep: isFair ? watchdogTimeout / 3 : watchdogTimeout,
    channelOf: (holder, _, isRegistered) =>
      isFair || isRegistered ? `${semaphoreChannel}:${holder}` : semaphoreChannel,
    fieldOf,
    renewalKeys: (holder) => [permitTimeouts, name.extended(holder)],
    tombstoneOf: (holder) => name.gone(holder),
    acquire: ({ lease, holder, mayWait }, waited) => ({
      script: permitAcquire,
      keys: [redisKey, permitTimeouts, wantedPermits, permitQueue, alive],
      args: [
        lease,
        fieldOf(holder),
        holder,
        permits ?? '',
        connection.publishCommand,
        mayWait ? 1 : 0,
        isFair ? 1 : 0,
        watchdogTimeout,
        semaphoreChannel,
        name.gone(holder),
        timeToLive === '' ? 0 : 1,
        waitersOf(context, name),
        waited,
      ],
    }),
    release: (holder, tombstone) => ({
      script: permitRelease,
      keys: [redisKey, permitTimeouts, permitQueue, alive, name.extended(holder), wantedPermits],
      args: [
        fieldOf(holder),
        holder,
        connection.publishCommand,
        semaphoreChannel,
        tombstone,
        timeToLive,
        waitersOf(context, name),
      ],
    }),
    token: (holder) => ({
      script: permitToken,
      keys: [permitTimeouts, name.token],
      args: [fieldOf(permitIdsOf(holder)[0]!)],
    }),
  };
}

/**
 * Releases the permits with these ids, all or none; resolves to whether it did.
 *
 * @param timeToLive in ms, of a semaphore of which no permit is held then; '': none
 */
export async function releasePermitIds(
  context: RecipeContext,
  name: LockName,
  requests: IdempotentRequests,
  ids: readonly string[],
  timeToLive: number | '',
): Promise<boolean> {
  const { redisKey, permitTimeouts, permitQueue, wantedPermits, semaphoreChannel } = name;
  const keys = [redisKey, permitTimeouts, permitQueue, wantedPermits];
  const permits = ids.map((id) => Buffer.from(id, 'hex'));
  const { publishCommand } = context.connection;
  const waiters = waitersOf(context, name);
  const args = [publishCommand, semaphoreChannel, timeToLive, waiters, ...permits];
  return (await requests.run(permitReleaseIds, keys, args)) === 1;
}
