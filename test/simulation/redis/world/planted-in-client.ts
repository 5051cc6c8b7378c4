import { Tenure } from '../../../../lib/core/hand-off.js';
import { Hold } from '../../../../lib/core/internal/hold.js';
import { SharedHold } from '../../../../lib/core/shared-hold.js';
import { RedisConnection } from '../../../../lib/redis/connection/redis-connection.js';
import { Ballot } from '../../../../lib/redis/red-lock/ballot.js';
import { RedLockHold } from '../../../../lib/redis/red-lock/red-lock-hold.js';
import { RedLockNodes } from '../../../../lib/redis/red-lock/red-lock-nodes.js';
import { lockRelease, lockRenew } from '../../../../lib/redis/scripts/index.js';

/** Puts another method in the place of one; the returned function ends that. */
function replaced<T, K extends keyof T>(prototype: T, name: K, by: (method: T[K]) => T[K]) {
  const method = prototype[name];
  prototype[name] = by(method);
  return (): void => void (prototype[name] = method);
}

/** Another number of servers is taken for a majority of that many; the returned function ends that. */
function majorityIs(majorityOf: (count: number) => number) {
  const { prototype } = RedLockNodes;
  const getter = Object.getOwnPropertyDescriptor(prototype, 'majority')!;
  const majority = function (this: RedLockNodes) {
    return majorityOf(this.clients.length);
  };
  Object.defineProperty(prototype, 'majority', { ...getter, get: majority });
  return (): void => void Object.defineProperty(prototype, 'majority', getter);
}

/** Bugs of the client, by their names: each plants itself, and returns what removes it. */
export const PLANTED_IN_CLIENT = {
  'counts no re-entry': () =>
    replaced(Hold.prototype as Hold, 'retain', (retain) => {
      const known = new WeakSet<Hold>();
      return function (this: Hold) {
        if (!known.has(this)) retain.call(this);
        known.add(this);
      };
    }),
  'counts a re-entry twice': () =>
    replaced(Hold.prototype as Hold, 'retain', (retain) => {
      const known = new WeakSet<Hold>();
      return function (this: Hold) {
        if (known.has(this)) retain.call(this);
        known.add(this);
        retain.call(this);
      };
    }),
  'releases what callers share with the first of them': () =>
    replaced(
      SharedHold.prototype,
      'leave',
      (leave) =>
        function (this: SharedHold, hold) {
          leave.call(this, hold);
          return false;
        },
    ),
  'keeps what callers have shared': () => replaced(SharedHold.prototype, 'leave', () => () => true),
  'keeps a lock that others wait for': () => replaced(Tenure.prototype, 'want', () => () => {}),
  'takes half of the servers for a majority': () => majorityIs((count) => Math.floor(count / 2)),
  /** The script, too. */
  'names the channel as a key': () =>
    replaced(
      RedisConnection.prototype,
      'run',
      (run) =>
        function (this: RedisConnection, script, keys, args, ...rest) {
          const channels =
            script === lockRelease ? keys.map((_, i) => String(args[3 * i + 2])) : [];
          return run.call(this, script, [...keys, ...channels], args, ...rest);
        },
    ),
  'renews what the server refuses only together': () =>
    replaced(
      RedisConnection.prototype,
      'run',
      (run) =>
        async function (this: RedisConnection, ...request) {
          try {
            return await run.apply(this, request);
          } catch (error) {
            if (request[0] !== lockRenew) throw error;
            throw new Error('no answer', { cause: error });
          }
        },
    ),
  'keeps what a minority has granted': () =>
    replaced(
      Ballot.prototype,
      'giveBack',
      () =>
        function (this: Ballot) {
          this.stopAsking();
        },
    ),
  'needs all of the servers': () => majorityIs((count) => count),
  'forgets what is granted late': () =>
    replaced(
      Ballot.prototype,
      'onGrant',
      () =>
        function (this: Ballot, tell) {
          for (const lease of this.leases) tell(lease);
        },
    ),
  'holds it with any number of servers': () =>
    replaced(RedLockHold.prototype, 'isExclusive', () => () => true),
  'takes the token of one server': () =>
    replaced(
      RedLockHold.prototype,
      'fencingToken',
      () =>
        function (this: RedLockHold) {
          const { ballot } = this as unknown as { readonly ballot: Ballot };
          return ballot.leases[0]!.fencingToken();
        },
    ),
} satisfies Record<string, () => () => void>;
