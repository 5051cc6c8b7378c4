import type { Answers, LinkListener, Request } from '../zookeeper/connection/transport.js';
import { isCanonicalPath, parentPath } from '../zookeeper/connection/znode-path.js';
import {
  type AclEntry,
  CreateMode,
  type Operation,
  type OperationAnswers,
  Permission,
} from '../zookeeper/connection/zookeeper-connection.js';
import { ReturnCode } from '../zookeeper/connection/zookeeper-error.js';
import type { Identity, ServerSession } from './session-table.js';
import { TreeDraft, type WritableTree } from './tree-draft.js';
import type { Znode, ZnodeTree } from './znode-tree.js';

/** Result of a request: a code of `ReturnCode` and, for 0, the answer. */
export interface Outcome {
  readonly rc: number;
  readonly answer?: Answers[keyof Answers];
}

/** Sender of a request: one link of one session. */
export interface Caller {
  readonly session: ServerSession;
  readonly identities: readonly Identity[];
  readonly listener: LinkListener;
}

type RequestOf<O extends (Request | Operation)['op']> = (Request | Operation) & { readonly op: O };

const { BADARGUMENTS, BADVERSION, INVALIDACL, NOAUTH, NOCHILDRENFOREPHEMERALS } = ReturnCode;
const { NODEEXISTS, NONODE, NOTEMPTY, NOWATCHER } = ReturnCode;

/**
 * Checks requests and carries them out on a tree. The checks are in the order of ZooKeeper 3.8, so that a request with
 * several errors gets the same code. A rejected write uses up a transaction id too.
 */
export class RequestProcessor {
  /** @param writable where changes are made; default: `tree` */
  constructor(
    private readonly tree: ZnodeTree,
    private readonly writable: WritableTree = tree,
  ) {}

  process(request: Request | Operation, caller: Caller): Outcome {
    switch (request.op) {
      case 'create':
        return this.#create(request, caller);
      case 'delete':
        return this.#delete(request, caller);
      case 'exists':
        return this.#exists(request, caller);
      case 'getData':
        return this.#getData(request, caller);
      case 'setData':
        return this.#setData(request, caller);
      case 'setAcl':
        return this.#setAcl(request, caller);
      case 'getChildren':
        return this.#getChildren(request, caller);
      case 'check':
        return this.#check(request, caller);
      case 'multi':
        return this.#multi(request, caller);
      case 'removeWatches':
        return this.#removeWatches(request, caller);
      case 'sync':
        return isPath(request.path) ? done(undefined) : refused(BADARGUMENTS);
    }
  }

  #create({ path: asked, data, mode, acl }: RequestOf<'create'>, caller: Caller): Outcome {
    const isSequential = isSequence(mode);
    if (!isPath(isSequential ? `${asked}0` : asked)) return refused(BADARGUMENTS);
    const zxid = this.writable.nextZxid();
    const resolved = acl && resolveAcl(acl, caller.identities);
    if (acl && !resolved) return refused(INVALIDACL);
    const parent = this.writable.get(parentPath(asked));
    if (!parent) return refused(NONODE);
    if (!mayDo(parent, Permission.CREATE, caller)) return refused(NOAUTH);
    const path = isSequential ? asked + String(parent.nextSequence).padStart(10, '0') : asked;
    if (this.writable.get(path)) return refused(NODEEXISTS);
    if (parent.isEphemeral) return refused(NOCHILDRENFOREPHEMERALS);
    const owned = { sessionId: caller.session.id, acl: resolved };
    this.writable.insert(path, { data: Buffer.from(data), mode, zxid, ...owned });
    return done({ path, czxid: zxid });
  }

  #delete({ path, version }: RequestOf<'delete'>, caller: Caller): Outcome {
    if (!isPath(path) || path === '/') return refused(BADARGUMENTS);
    this.writable.nextZxid();
    const parent = this.writable.get(parentPath(path));
    if (!parent) return refused(NONODE);
    if (!mayDo(parent, Permission.DELETE, caller)) return refused(NOAUTH);
    const node = this.writable.get(path);
    if (!node) return refused(NONODE);
    if (version !== -1 && version !== node.version) return refused(BADVERSION);
    if (node.children.size > 0) return refused(NOTEMPTY);
    this.writable.remove(path);
    return done(undefined);
  }

  #exists({ path, watch }: RequestOf<'exists'>, { listener }: Caller): Outcome {
    if (!isPath(path)) return refused(BADARGUMENTS);
    if (watch) this.tree.watchData(path, listener); // also if there is no node: it fires on the creation
    const node = this.tree.get(path);
    return node ? done(node.stat()) : refused(NONODE);
  }

  #getData({ path, watch }: RequestOf<'getData'>, caller: Caller): Outcome {
    if (!isPath(path)) return refused(BADARGUMENTS);
    const node = this.tree.get(path);
    if (!node) return refused(NONODE);
    if (!mayDo(node, Permission.READ, caller)) return refused(NOAUTH);
    if (watch) this.tree.watchData(path, caller.listener);
    return done({ data: Buffer.from(node.data), stat: node.stat() });
  }

  #setData({ path, data, version }: RequestOf<'setData'>, caller: Caller): Outcome {
    if (!isPath(path)) return refused(BADARGUMENTS);
    const zxid = this.writable.nextZxid();
    const node = this.writable.get(path);
    if (!node) return refused(NONODE);
    if (!mayDo(node, Permission.WRITE, caller)) return refused(NOAUTH);
    if (version !== -1 && version !== node.version) return refused(BADVERSION);
    this.writable.setData(path, Buffer.from(data), zxid);
    return done(this.writable.get(path)!.stat());
  }

  #setAcl({ path, acl }: RequestOf<'setAcl'>, caller: Caller): Outcome {
    if (!isPath(path)) return refused(BADARGUMENTS);
    this.tree.nextZxid();
    const resolved = resolveAcl(acl, caller.identities);
    if (!resolved) return refused(INVALIDACL);
    const node = this.tree.get(path);
    if (!node) return refused(NONODE);
    if (!mayDo(node, Permission.ADMIN, caller)) return refused(NOAUTH);
    node.acl = resolved;
    return done(undefined);
  }

  #getChildren({ path, watch }: RequestOf<'getChildren'>, caller: Caller): Outcome {
    if (!isPath(path)) return refused(BADARGUMENTS);
    const node = this.tree.get(path);
    if (!node) return refused(NONODE);
    if (!mayDo(node, Permission.READ, caller)) return refused(NOAUTH);
    if (watch) this.tree.watchChildren(path, caller.listener);
    return done([...node.children]);
  }

  #check({ path, version }: RequestOf<'check'>, caller: Caller): Outcome {
    if (!isPath(path)) return refused(BADARGUMENTS);
    const node = this.writable.get(path);
    if (!node) return refused(NONODE);
    if (!mayDo(node, Permission.READ, caller)) return refused(NOAUTH);
    return version === -1 || version === node.version ? done(undefined) : refused(BADVERSION);
  }

  /** All of them in one transaction, or none: nothing is seen of a draft that is not committed. */
  #multi({ operations }: RequestOf<'multi'>, caller: Caller): Outcome {
    if (operations.length === 0 || !operations.every(hasPath)) return refused(BADARGUMENTS);
    const draft = new TreeDraft(this.tree);
    const drafting = new RequestProcessor(this.tree, draft);
    const answers: OperationAnswers[Operation['op']][] = [];
    for (const [failed, operation] of operations.entries()) {
      const { rc, answer } = drafting.process(operation, caller);
      if (rc !== ReturnCode.OK) return done({ failed, rc });
      answers.push(answer as OperationAnswers[Operation['op']]);
    }
    draft.commit();
    return done({ answers });
  }

  #removeWatches({ path, kind }: RequestOf<'removeWatches'>, { listener }: Caller): Outcome {
    if (!isPath(path)) return refused(BADARGUMENTS);
    return this.tree.unwatch(kind, path, listener) ? done(undefined) : refused(NOWATCHER);
  }
}

function isSequence(mode: CreateMode): boolean {
  return mode === CreateMode.PERSISTENT_SEQUENTIAL || mode === CreateMode.EPHEMERAL_SEQUENTIAL;
}

function hasPath(operation: Operation): boolean {
  const isSequential = operation.op === 'create' && isSequence(operation.mode);
  return isPath(isSequential ? `${operation.path}0` : operation.path);
}

function isPath(path: string): boolean {
  return path === '/' || isCanonicalPath(path);
}

function mayDo(node: Znode, permission: number, { identities }: Caller): boolean {
  return isPermitted(node.acl, permission, identities);
}

function done(answer: Answers[keyof Answers]): Outcome {
  return { rc: ReturnCode.OK, answer };
}

function refused(rc: number): Outcome {
  return { rc };
}

/** Whether `acl` grants `permission` to a caller with these identities. */
function isPermitted(
  acl: readonly AclEntry[],
  permission: number,
  identities: readonly Identity[],
): boolean {
  return acl.some(
    ({ perms, scheme, id }) =>
      (perms & permission) !== 0 &&
      (scheme === 'world' || identities.some((one) => one.scheme === scheme && one.id === id)),
  );
}

/**
 * Returns the list as the server stores it, with the caller's identities for `auth`; `undefined` if it is not valid.
 * The known schemes are `world`, `auth` and `digest`.
 */
function resolveAcl(
  acl: readonly AclEntry[],
  identities: readonly Identity[],
): readonly AclEntry[] | undefined {
  const resolved = acl.map((entry) => {
    if (entry.scheme === 'auth')
      return identities.map((identity) => ({ ...identity, perms: entry.perms }));
    return isValid(entry) ? [{ ...entry }] : [];
  });
  const isComplete = resolved.length > 0 && resolved.every((entries) => entries.length > 0);
  return isComplete ? resolved.flat() : undefined;
}

function isValid({ scheme, id }: AclEntry): boolean {
  if (scheme === 'world') return id === 'anyone';
  return scheme === 'digest' && /^[^:]+:[^:]+$/.test(id);
}
