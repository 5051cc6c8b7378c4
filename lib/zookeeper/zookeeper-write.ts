import { LockOptionsError } from '../core/errors/index.js';
import { NotShown } from '../core/errors/shown-value.js';
import type { GuardedWrite } from '../core/lease.js';
import {
  type AclEntry,
  CreateMode,
  type Operation,
  type OperationAnswers,
} from './connection/zookeeper-connection.js';
import { isCanonicalPath } from './connection/znode-path.js';
import { ACL_EXPECTED, isAcl } from './zookeeper-options.js';

/**
 * An operation on one node, by its path below the chroot. `version` is that of the node before; default: any. Texts are stored as
 * UTF-8. A new node is persistent by default, empty, and has the `acl` of the lock client.
 */
export type ZooKeeperOperation =
  | {
      readonly op: 'create';
      readonly path: string;
      readonly data?: string | Uint8Array | undefined;
      readonly mode?: CreateMode | undefined;
      readonly acl?: readonly AclEntry[] | undefined;
    }
  | {
      readonly op: 'setData';
      readonly path: string;
      readonly data: string | Uint8Array;
      readonly version?: number | undefined;
    }
  | { readonly op: 'delete'; readonly path: string; readonly version?: number | undefined }
  | { readonly op: 'check'; readonly path: string; readonly version?: number | undefined };

/** What the operations resolve to: the node that was created, the metadata of one that was changed, or nothing. */
type ResultsOf<O extends readonly ZooKeeperOperation[]> = {
  -readonly [I in keyof O]: OperationAnswers[O[I]['op']];
};

/** A {@link GuardedWrite} for ZooKeeper. */
export interface ZooKeeperWrite<R> extends GuardedWrite<R> {
  readonly store: 'ZooKeeper';
  readonly operations: readonly Operation[];
}

/**
 * Operations for `Lease.guard`: ZooKeeper's `multi`, which carries out all of them or none. Each sees the changes of those before
 * it. Resolves to their results; rejects with the `ZooKeeperError` of the first that cannot be carried out.
 *
 * Needs the driver `'wire'`: the package `zookeeper` has no call for it.
 *
 * @param operations at least one; all of them together have to fit the servers' `jute.maxbuffer`, 1 MB by default
 * @throws LockOptionsError
 */
export function zooKeeperOperations<const O extends readonly ZooKeeperOperation[]>(
  operations: O,
): GuardedWrite<ResultsOf<O>> {
  if (!Array.isArray(operations) || operations.length === 0)
    throw new LockOptionsError(
      'operations',
      operations,
      "operations, as in [{ op: 'setData', path: '/leader', data: 'me' }]",
    );
  const write: ZooKeeperWrite<ResultsOf<O>> = {
    store: 'ZooKeeper',
    operations: operations.map(validOperation),
  };
  return write;
}

const MODES: readonly unknown[] = Object.values(CreateMode);
const NUMBERED: readonly CreateMode[] = [
  CreateMode.PERSISTENT_SEQUENTIAL,
  CreateMode.EPHEMERAL_SEQUENTIAL,
];

/** Whether the operation creates a node with a number behind its path. */
export function isNumbered(operation: Operation): boolean {
  return operation.op === 'create' && NUMBERED.includes(operation.mode);
}

function validOperation(operation: ZooKeeperOperation): Operation {
  if (typeof operation !== 'object' || operation === null)
    throw new LockOptionsError('operations', operation, 'each as an object with `op` and `path`');
  const { op, path } = operation;
  switch (op) {
    case 'create': {
      const { mode = CreateMode.PERSISTENT, acl } = operation;
      if (!MODES.includes(mode)) throw new LockOptionsError('mode', mode, 'a `CreateMode`');
      if (NUMBERED.includes(mode)) validPath(`${path}0`);
      else validPath(path);
      return { op, path, data: bytesOf(operation.data ?? ''), mode, acl: validAcl(acl) };
    }
    case 'setData': {
      const version = validVersion(operation.version);
      return { op, path: validPath(path), data: bytesOf(operation.data), version };
    }
    case 'delete':
    case 'check':
      return { op, path: validPath(path), version: validVersion(operation.version) };
    default:
      throw new LockOptionsError('op', op, "'create', 'setData', 'delete' or 'check'");
  }
}

function validPath(path: unknown): string {
  if (path === '/' || isCanonicalPath(path)) return path;
  throw new LockOptionsError('path', path, 'the absolute path of a node, such as "/app/state"');
}

function validVersion(version: unknown = -1): number {
  if (typeof version === 'number' && version === (version | 0)) return version;
  throw new LockOptionsError('version', version, 'the version of a node, an integer of 32 bits');
}

function validAcl(acl: unknown): readonly AclEntry[] | undefined {
  if (acl === undefined || isAcl(acl)) return acl;
  throw new LockOptionsError('acl', new NotShown('invalid, and not shown here'), ACL_EXPECTED);
}

/** A copy: the caller may go on to use its bytes. */
function bytesOf(data: unknown): Buffer {
  if (typeof data === 'string') return Buffer.from(data);
  if (data instanceof Uint8Array) return Buffer.from(data);
  throw new LockOptionsError('data', data, 'a text or a Uint8Array');
}
