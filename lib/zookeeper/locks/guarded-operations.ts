import {
  LockConnectionError,
  type LockErrorContext,
  LockNotHeldError,
  LockOptionsError,
} from '../../core/errors/index.js';
import type { GuardedWrite } from '../../core/lease.js';
import { refuseUnlessFor } from '../../core/internal/guard.js';
import type { Hold, HoldBackend } from '../../core/internal/hold.js';
import { settleWithin, unlessLost } from '../../core/internal/timers.js';
import { GRACE } from '../connection/pipelined-link.js';
import type { Operation } from '../connection/zookeeper-connection.js';
import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import { afterTransient } from '../nodes/node-requests.js';
import type { RecipeContext } from '../recipe-context.js';
import { isNumbered, type ZooKeeperWrite } from '../zookeeper-write.js';

/** A lock of one node, or of several. */
interface OfNodes extends HoldBackend {
  readonly paths: readonly string[];
  nodeLost(why: string): void;
}
type LockHolds = readonly [Hold<OfNodes>, ...Hold<OfNodes>[]];

/**
 * Carries out the operations in one transaction that first checks that every node of the locks is there. Waits for the
 * `connectTimeout` at most: for a connection, for servers that are not busy, and for the answer.
 *
 * Invariant: it is sent again only if the servers have not received it. Whether the node is there is decided by the leader, in
 * the order of all writes, so no copy and no delay can let a write of a former holder in after the grant to the next one.
 */
export async function writeGuarded(
  context: RecipeContext,
  given: GuardedWrite<unknown>,
  holds: LockHolds,
): Promise<readonly unknown[]> {
  refuseUnlessFor('ZooKeeper', given, holds[0].context);
  const { operations } = given as ZooKeeperWrite<unknown>;
  const nodes = holds.flatMap((hold) => hold.backend.paths.map((path) => ({ hold, path })));
  const checks = nodes.map(({ path }): Operation => ({ op: 'check', path, version: -1 }));
  const all = [...checks, ...operations.map((operation) => placed(operation, context))];
  const { connection, clock, connectTimeout } = context;
  const endsAt = clock.now() + connectTimeout;
  let refusal: ZooKeeperError | undefined;
  for (;;) {
    for (const hold of holds) if (!hold.isLive) throw notHeld(hold);
    if (refusal && clock.now() >= endsAt) throw notWritten(refusal, holds[0], connectTimeout);
    try {
      const answering = connection.multi(all);
      const inTime = await settleWithin(endsAt - clock.now(), clock, answering);
      const answers = inTime ?? (await settleWithin(GRACE, clock, answering)); // after a stall it may be in the socket
      if (answers === undefined) throw unanswered(holds[0], connectTimeout);
      return answers.slice(checks.length).map((answer) => shown(answer, context));
    } catch (error) {
      if (!(error instanceof ZooKeeperError)) throw error;
      const missing = error.index === undefined ? undefined : nodes[error.index]?.hold;
      if (missing) throw checkFailed(missing, error);
      if (!error.isTransient || error.maybeDone) throw failure(error, holds[0], checks.length);
      refusal = error;
      if (!holds.every(({ isLive }) => isLive)) continue; // lost since it was sent, so that no loss would end the pause
      const pause = afterTransient(context, error);
      const paused = Promise.race(holds.map((hold) => unlessLost(hold, pause)));
      await settleWithin(endsAt - clock.now(), clock, paused);
    }
  }
}

/** Below the chroot, and with the access control list of the client. */
function placed(operation: Operation, { chroot, acl }: RecipeContext): Operation {
  const isChroot = operation.path === '/' && !isNumbered(operation);
  const path = (isChroot && chroot) || `${chroot}${operation.path}`;
  if (operation.op !== 'create') return { ...operation, path };
  return { ...operation, path, acl: operation.acl ?? acl };
}

/** The answer with the path as the user knows it. */
function shown(answer: object | undefined, { chroot }: RecipeContext): unknown {
  if (answer === undefined || !('path' in answer)) return answer;
  return { path: (answer.path as string).slice(chroot.length) };
}

function notHeld({ lost, context }: Hold<OfNodes>): Error {
  return lost ?? new LockNotHeldError(context);
}

/** The error for a node of a lock that could not be checked; one that is gone is lost. */
function checkFailed(hold: Hold<OfNodes>, error: ZooKeeperError): Error {
  if (error.rc !== ReturnCode.NONODE) return error;
  hold.backend.nodeLost('its node is no longer on the servers');
  return notHeld(hold);
}

/** The error for the user: of the servers' answer, or of none. */
function failure(error: ZooKeeperError, { context }: Hold<OfNodes>, checks: number): Error {
  const { rc, path, index } = error;
  if (rc === ReturnCode.UNIMPLEMENTED)
    return new LockOptionsError(
      'driver',
      'native',
      "'wire' for guarded writes: the package `zookeeper` has no call for transactions",
      context,
    );
  if (error.maybeDone)
    return new LockConnectionError(
      `The connection to the ZooKeeper servers was lost during ${write(context)}: it is unknown whether it was carried out. ${ADVICE}`,
      { ...context, cause: error },
    );
  if (index === undefined) return error;
  const nth = index - checks;
  const operation = error.operation.replace(/\[\d+\]/, `[${nth}]`);
  return new ZooKeeperError(rc, operation, path, false, nth);
}

function unanswered({ context }: Hold<OfNodes>, ms: number): LockConnectionError {
  return new LockConnectionError(
    `The ZooKeeper servers did not answer ${write(context)} within ${ms} ms: it is unknown whether it was carried out, and it may still be. ${ADVICE}`,
    context,
  );
}

/** The error where each attempt was refused, or could not be made. */
function notWritten(cause: ZooKeeperError, { context }: Hold<OfNodes>, ms: number) {
  return new LockConnectionError(
    `The ZooKeeper servers were away, or too busy, for ${ms} ms during ${write(context)}: ${cause.message}. Nothing was written. Check the servers, and repeat it.`,
    { ...context, cause },
  );
}

const write = ({ key, client }: LockErrorContext) =>
  `a guarded write under the lock ${JSON.stringify(key)} of client "${client}"`;

const ADVICE =
  'Look at the data before you repeat it; a `version` in each operation makes that safe.';
