import { randomUUID } from 'node:crypto';
import { Bag } from '../core/internal/swap-remove-set.js';
import { Renewal } from './connection/watchdog.js';
import { ContenderLines } from './recipes/line.js';
import { GuaranteedRelease } from './recipes/guaranteed-release.js';
import type { RecipeContext } from './recipes/recipe-context.js';
import { RequestRecords } from './recipes/request-numbers.js';
import type { RedisLockClientSettings } from './redis-lock-client-settings.js';
import { warnOfRefusals } from './warn-of-refusals.js';

/** What the recipes of a client share. */
export function makeRecipeContext(settings: RedisLockClientSettings): RecipeContext {
  const { name, connection, events, clock, options } = settings;
  const { wait = 'forever', connectTimeout = 15_000, replicas } = options;
  const { watchdogTimeout = 30_000, fairLockWaitTimeout = 300_000 } = options;
  const id = randomUUID();
  let holders = 0;
  const renewal = new Renewal(connection, clock);
  connection.onReady(() => renewal.renewAll());
  return {
    client: name,
    connection,
    clock,
    events,
    wait,
    connectTimeout,
    watchdogTimeout,
    fairLockWaitTimeout,
    replicas,
    renewal,
    releases: new GuaranteedRelease(connection, clock, warnOfRefusals(name)),
    lines: new ContenderLines(),
    requests: new RequestRecords(),
    newHolder: () => `${id}:${++holders}`,
    admits: 'all',
    waits: new Bag(),
    holds: new Bag(),
  };
}
