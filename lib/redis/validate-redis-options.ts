import { LockOptionsError } from '../core/errors/index.js';
import { validateAcquireOptions } from '../core/internal/validation.js';
import { validateLease } from './recipes/validate-lease.js';
import type { RedisLockOptions } from './redis-lock-options.js';
import { validateNodes } from './validate-nodes.js';
import { validateSources } from './validate-sources.js';

const SOURCES = ['client', 'connect', 'cluster', 'nodes'] as const;
const MODES: readonly unknown[] = [undefined, 'auto', 'on', 'off'];

/** Throws {@link LockOptionsError} for the first option that is out of its range. */
export function validateRedisOptions(options: RedisLockOptions, client: string): void {
  const refuse = (option: string, value: unknown, expected: string): never => {
    throw new LockOptionsError(option, value, expected, { client });
  };
  const given = SOURCES.filter((source) => options[source] !== undefined);
  if (given.length !== 1)
    refuse(
      given[1] ?? 'connect',
      given.length === 0 ? undefined : 'given too', // it may contain a password
      "one of `connect: 'redis://localhost:6379'`, `client`, `cluster` and `nodes`",
    );
  validateSources(options, refuse);
  validateNodes(options, refuse);

  const { connectTimeout, watchdogTimeout, fairLockWaitTimeout, prefix, wait } = options;
  if (connectTimeout !== undefined && !isTime(connectTimeout))
    refuse('connectTimeout', connectTimeout, 'milliseconds above 0 and below 2^31');
  const isWhole = fairLockWaitTimeout === undefined || Number.isInteger(fairLockWaitTimeout); // scripts calculate with it
  if (!isWhole || !isTime(fairLockWaitTimeout ?? 1))
    refuse('fairLockWaitTimeout', fairLockWaitTimeout, 'whole milliseconds from 1 to 2^31 - 1');
  if (watchdogTimeout !== undefined) validateLease('watchdogTimeout', watchdogTimeout, { client });
  if (prefix !== undefined && typeof prefix !== 'string') refuse('prefix', prefix, 'a text');
  validateAcquireOptions({ wait }, { client });
  const { shardedSubscriptionMode, replicas } = options;
  if (!MODES.includes(shardedSubscriptionMode))
    refuse('shardedSubscriptionMode', shardedSubscriptionMode, "'auto', 'on' or 'off'");
  if (replicas === undefined) return;
  const { atLeast, timeout = 1, otherwise = 'fail' } = replicas ?? {};
  if (!(Number.isInteger(atLeast) && atLeast > 0))
    refuse('replicas.atLeast', atLeast, 'a whole number from 1');
  if (!(Number.isInteger(timeout) && timeout > 0))
    refuse('replicas.timeout', timeout, 'whole milliseconds above 0');
  if (otherwise !== 'fail' && otherwise !== 'warn')
    refuse('replicas.otherwise', otherwise, "'fail' or 'warn'");
}

function isTime(ms: number): boolean {
  return Number.isFinite(ms) && ms > 0 && ms < 2 ** 31;
}
