import { LinePlace } from '../../../../lib/core/collections/waiting-line.js';
import { Hold } from '../../../../lib/core/internal/hold.js';
import { BarrierDirectory } from '../../../../lib/zookeeper/barriers/double-barrier-nodes.js';
import { SessionConnection } from '../../../../lib/zookeeper/connection/session-connection.js';
import { PipelinedLink } from '../../../../lib/zookeeper/connection/pipelined-link.js';
import { Session } from '../../../../lib/zookeeper/connection/session.js';
import type { Operation } from '../../../../lib/zookeeper/connection/zookeeper-connection.js';
import {
  ReturnCode,
  ZooKeeperError,
} from '../../../../lib/zookeeper/connection/zookeeper-error.js';
import type { Request } from '../../../../lib/zookeeper/connection/transport.js';
import { KnownQueue } from '../../../../lib/zookeeper/locks/known-queues.js';
import { ZooKeeperElection } from '../../../../lib/zookeeper/locks/zookeeper-election.js';
import { OwnedNode } from '../../../../lib/zookeeper/nodes/owned-node.js';
import { WireLink } from './wire-link.js';

/** Bugs that this library had, or could have, planted in the code of today. */
const PLANTED = {
  /** Any answer counted as a proof that the session lives, and a read was the sign of life: D1 of the first review. */
  'takes an answered read for a proof': () => {
    replace(
      Session.prototype,
      'answered',
      (_, session) => (sentAt) => session.confirmed(session.timeout, sentAt),
    );
    const beats = new WeakSet<Request>();
    replace(PipelinedLink.prototype, 'send', (send) => (request, isUrgent) => {
      if (isUrgent) beats.add(request);
      return send(request as never, isUrgent) as never;
    });
    replace(WireLink.prototype, 'request', (send) => (request, reply) => {
      if (beats.has(request)) send({ op: 'exists', path: '/', watch: false }, (rc) => reply(rc));
      else send(request, reply);
    });
  },
  /** The timeout that a server grants when the session moves to it was not read: D2. */
  'keeps the timeout of the first server': () =>
    replace(
      Session.prototype,
      'attached',
      (attached, session) => (_, sentAt) => attached(session.timeout, sentAt),
    ),
  /** A deletion that a busy server refuses was over: D3. */
  'does not try a refused deletion again': () =>
    replace(SessionConnection.prototype, 'delete', (remove) => async (...asked) => {
      try {
        await remove(...asked);
      } catch (error) {
        if (!ZooKeeperError.is(error, ReturnCode.THROTTLEDOP)) throw error;
      }
    }),
  /** The grant of a reader inside of a write lock struck that writer from what its client knew of the queue. */
  'forgets the writer of an inner reader': () =>
    replace(
      KnownQueue.prototype,
      'served',
      (served) => (own, driver) => served(own, { ...driver, turnOf: undefined }),
    ),
  'writes without a look at its node': () =>
    replace(
      SessionConnection.prototype,
      'multi',
      (multi) => (operations) => multi(operations.map(unchecked) as never),
    ),
  'writes again when the answer was lost': () =>
    replace(
      SessionConnection.prototype,
      'multi',
      (multi) => (operations) => multi(operations).catch(asNotDone),
    ),
  'adds again when the answer was lost': () => {
    replace(
      SessionConnection.prototype,
      'setData',
      (set) =>
        (...asked) =>
          set(...asked).catch(asNotDone),
    );
    replace(
      SessionConnection.prototype,
      'create',
      (create) =>
        (...asked) =>
          create(...asked).catch(asNotDone),
    );
  },
  /** What was handed on kept the owner of the first caller. */
  'reports a loss to the first caller only': () => {
    const guarded = new WeakSet<OwnedNode>();
    replace(OwnedNode.prototype, 'guard', (guard, watch) => (...asked) => {
      if (!guarded.has(watch)) guard(...asked);
      guarded.add(watch);
    });
  },
  /** Those behind it in the line of the client were forgotten. */
  'keeps the place of a caller who has given up': () =>
    replace(LinePlace.prototype, 'leave', (leave, place) => () => {
      if (place.isFirst) leave();
    }),
  'leads again without a look at its node': () =>
    replace(ZooKeeperElection.prototype, 'confirm', () => () => Promise.resolve()),
  'gives up what it holds with the first of its leases': () =>
    replace(Hold.prototype, 'release', (_, hold) => () => hold.free()),
  'sets a number that it has not seen': () =>
    replace(SessionConnection.prototype, 'setData', (set) => (path, data) => set(path, data)),
  'waits on a barrier without a sync': () =>
    replace(
      SessionConnection.prototype,
      'sync',
      (sync) => (path) => (path === '/' ? sync(path) : Promise.resolve()), // that of the root is of the connection
    ),
  'sees only the first member of an open barrier': () =>
    replace(BarrierDirectory.prototype, 'look', (look) => async () => {
      const { members, isOpen } = await look();
      return { members: isOpen ? members.slice(0, 1) : members, isOpen };
    }),
} satisfies Record<string, () => void>;

/** @throws the error of a request that was certainly not carried out */
function asNotDone(error: unknown): never {
  if (!(error instanceof ZooKeeperError) || !error.maybeDone) throw error;
  throw new ZooKeeperError(error.rc, error.operation, error.path);
}

/** Looks at the root instead, which is always there. */
const unchecked = (operation: Operation): Operation =>
  operation.op === 'check' ? { ...operation, path: '/' } : operation;

export type PlantedBug = keyof typeof PLANTED;

const repairs: (() => void)[] = [];

/** Plants a bug; the returned function removes it. */
export function plant(bug: PlantedBug): () => void {
  PLANTED[bug]();
  return () => {
    for (const repair of repairs.splice(0)) repair();
  };
}

type Method = (...args: unknown[]) => unknown;

/** Replaces a method; `bug` receives the real one, bound to its object, and that object. */
function replace<T extends object, K extends keyof T>(
  owner: T,
  name: K,
  bug: (real: T[K], self: T) => T[K],
): void {
  const real = owner[name] as Method;
  const replaced = function (this: T, ...args: unknown[]) {
    return (bug(real.bind(this) as T[K], this) as Method)(...args);
  };
  const value = Object.getOwnPropertyDescriptor(owner, name)!;
  repairs.push(() => void Object.defineProperty(owner, name, value));
  Object.defineProperty(owner, name, { ...value, value: replaced });
}
