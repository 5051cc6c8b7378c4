import { type LockErrorContext, LockOptionsError } from '../errors/index.js';
import type { GuardedWrite } from '../lease.js';
import type { Hold } from './hold.js';

type Holds = readonly [Hold, ...Hold[]];

/** Has the one store of all locks that `hold` consists of carry out the write; rejects as `Lease.guard` does. */
export async function guardWrite<R>(hold: Hold, write: GuardedWrite<R>): Promise<R> {
  const holds = locksOf(hold);
  const [{ backend, identity }] = holds;
  const isOneStore = holds.every((other) => other.identity.scope === identity.scope);
  if (!isOneStore || backend.guard === undefined) throw noOneStore(write, hold.context);
  return (await backend.guard(write, holds)) as R;
}

/** The error for locks on several servers, or of several clients. */
export function noOneStore(
  write: GuardedWrite<unknown>,
  context: LockErrorContext,
): LockOptionsError {
  const expected = 'none: no one server has all locks of this lease, so none can check them';
  return new LockOptionsError('write', write, expected, context);
}

/** @throws LockOptionsError when the write is not for that store */
export function refuseUnlessFor(
  store: GuardedWrite<unknown>['store'],
  write: GuardedWrite<unknown>,
  context: LockErrorContext,
): void {
  if ((write as GuardedWrite<unknown> | undefined)?.store === store) return;
  const makers = store === 'Redis' ? '`redisCommands` or `redisScript`' : '`zooKeeperOperations`';
  const where = store === 'Redis' ? 'Redis' : 'ZooKeeper, or embedded';
  const expected = `what ${makers} returns, as the lock is on ${where}`;
  throw new LockOptionsError('write', write, expected, context);
}

/** The holds of single locks: at least one. */
function locksOf(hold: Hold): Holds {
  return (hold.backend.parts?.flatMap(locksOf) as Holds | undefined) ?? [hold];
}
