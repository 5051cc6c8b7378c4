import { CreateMode, Permission } from '../zookeeper/connection/zookeeper-connection.js';
import { ReturnCode } from '../zookeeper/connection/zookeeper-error.js';
import type { Answers, Request } from '../zookeeper/connection/transport.js';
import { isCanonicalPath, parentPath } from '../zookeeper/connection/znode-path.js';
import type { Caller } from './caller.js';
import { isPermitted } from './is-permitted.js';
import type { Outcome } from './outcome.js';
import { resolveAcl } from './resolve-acl.js';
import type { ZnodeTree } from './znode-tree.js';
import type { Znode } from './znode.js';

type RequestOf<O extends Request['op']> = Request & { readonly op: O };

const { BADARGUMENTS, BADVERSION, INVALIDACL, NOAUTH, NOCHILDRENFOREPHEMERALS } = ReturnCode;
const { NODEEXISTS, NONODE, NOTEMPTY } = ReturnCode;

/**
 * Checks requests and carries them out on a tree, with the checks in the order of ZooKeeper 3.8, so that of several
 * reasons to refuse a request it gives the same. A refused write uses up a transaction id too.
 */
export class RequestProcessor {
  constructor(private readonly tree: ZnodeTree) {}

  process(request: Request, caller: Caller): Outcome {
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
      case 'sync':
        return isPath(request.path) ? done(undefined) : refused(BADARGUMENTS);
    }
  }

  #create({ path: asked, data, mode }: RequestOf<'create'>, caller: Caller): Outcome {
    const isSequential =
      mode === CreateMode.PERSISTENT_SEQUENTIAL || mode === CreateMode.EPHEMERAL_SEQUENTIAL;
    if (!isPath(isSequential ? `${asked}0` : asked)) return refused(BADARGUMENTS);
    const zxid = this.tree.nextZxid();
    const parent = this.tree.get(parentPath(asked));
    if (!parent) return refused(NONODE);
    if (!mayDo(parent, Permission.CREATE, caller)) return refused(NOAUTH);
    const path = isSequential ? asked + String(parent.nextSequence).padStart(10, '0') : asked;
    if (this.tree.get(path)) return refused(NODEEXISTS);
    if (parent.isEphemeral) return refused(NOCHILDRENFOREPHEMERALS);
    this.tree.insert(path, { data: Buffer.from(data), mode, zxid, sessionId: caller.session.id });
    return done(path);
  }

  #delete({ path, version }: RequestOf<'delete'>, caller: Caller): Outcome {
    if (!isPath(path) || path === '/') return refused(BADARGUMENTS);
    this.tree.nextZxid();
    const parent = this.tree.get(parentPath(path));
    if (!parent) return refused(NONODE);
    if (!mayDo(parent, Permission.DELETE, caller)) return refused(NOAUTH);
    const node = this.tree.get(path);
    if (!node) return refused(NONODE);
    if (version !== -1 && version !== node.version) return refused(BADVERSION);
    if (node.children.size > 0) return refused(NOTEMPTY);
    this.tree.remove(path);
    return done(undefined);
  }

  #exists({ path, watch }: RequestOf<'exists'>, { listener }: Caller): Outcome {
    if (!isPath(path)) return refused(BADARGUMENTS);
    if (watch) this.tree.watchData(path, listener); // also where there is no node: it tells of the creation
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
    const zxid = this.tree.nextZxid();
    const node = this.tree.get(path);
    if (!node) return refused(NONODE);
    if (!mayDo(node, Permission.WRITE, caller)) return refused(NOAUTH);
    if (version !== -1 && version !== node.version) return refused(BADVERSION);
    this.tree.setData(path, Buffer.from(data), zxid);
    return done(node.stat());
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
