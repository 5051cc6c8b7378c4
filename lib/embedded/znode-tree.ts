import type { LinkListener } from '../zookeeper/connection/transport.js';
import type { WatchKind } from '../zookeeper/connection/idle-watches.js';
import { nodeName, parentPath } from '../zookeeper/connection/znode-path.js';
import {
  type AclEntry,
  CreateMode,
  Permission,
  type Stat,
} from '../zookeeper/connection/zookeeper-connection.js';
import { WatchTable } from './watch-table.js';

const OPEN: readonly AclEntry[] = [{ perms: Permission.ALL, scheme: 'world', id: 'anyone' }];
/** A server of version 3.8 stays at the largest signed 32-bit number (version 3.5 continued at the smallest). */
const LAST_SEQUENCE = 2 ** 31 - 1;
const NO_CHILDREN: ReadonlySet<string> = new Set();

/** Initial values of a znode. */
interface ZnodeOrigin {
  readonly data: Buffer;
  readonly mode: CreateMode;
  /** Transaction that creates it. */
  readonly zxid: number;
  /** Id of the session that creates it. */
  readonly sessionId: string;
  /** Default: open to everyone. */
  readonly acl?: readonly AclEntry[] | undefined;
}

/** A node of the tree, with the server's metadata. */
export class Znode {
  readonly isContainer: boolean;
  /** Id of the session that owns an ephemeral node; `0` if there is none. */
  readonly owner: string;
  acl: readonly AclEntry[];
  /** Sequence number of the next sequential child: the count of all children ever created, up to {@link LAST_SEQUENCE}. */
  nextSequence = 0;
  #data: Buffer;
  readonly #czxid: number;
  #mzxid: number;
  #version = 0;
  #children: Set<string> | undefined; // most nodes never have any

  constructor({ data, mode, zxid, sessionId, acl = OPEN }: ZnodeOrigin) {
    const isEphemeral = mode === CreateMode.EPHEMERAL || mode === CreateMode.EPHEMERAL_SEQUENTIAL;
    this.isContainer = mode === CreateMode.CONTAINER;
    this.owner = isEphemeral ? sessionId : '0';
    this.acl = acl;
    this.#data = data;
    this.#czxid = this.#mzxid = zxid;
  }

  get isEphemeral(): boolean {
    return this.owner !== '0';
  }

  get data(): Buffer {
    return this.#data;
  }

  get version(): number {
    return this.#version;
  }

  get children(): ReadonlySet<string> {
    return this.#children ?? NO_CHILDREN;
  }

  replaceData(data: Buffer, zxid: number): void {
    this.#data = data;
    this.#mzxid = zxid;
    this.#version += 1;
  }

  addChild(name: string): void {
    this.#children ??= new Set();
    this.#children.add(name);
    this.nextSequence = Math.min(this.nextSequence + 1, LAST_SEQUENCE);
  }

  removeChild(name: string): void {
    this.#children?.delete(name);
  }

  /** A copy that changes by itself. */
  copy(): Znode {
    const lasting = this.isContainer ? CreateMode.CONTAINER : CreateMode.PERSISTENT;
    const mode = this.isEphemeral ? CreateMode.EPHEMERAL : lasting;
    const origin = { data: this.#data, mode, zxid: this.#czxid, sessionId: this.owner };
    const copy = new Znode({ ...origin, acl: this.acl });
    copy.nextSequence = this.nextSequence;
    copy.#mzxid = this.#mzxid;
    copy.#version = this.#version;
    copy.#children = this.#children && new Set(this.#children);
    return copy;
  }

  stat(): Stat {
    return {
      czxid: this.#czxid,
      mzxid: this.#mzxid,
      version: this.#version,
      ephemeralOwner: this.owner,
      numChildren: this.children.size,
    };
  }
}

/**
 * The nodes, their ephemeral owners and the watches on them, as kept by one ZooKeeper server.
 *
 * It carries out changes and fires the watches; the caller has checked before that a change is allowed.
 * There is no `/zookeeper` in it, so a new tree is empty.
 */
export class ZnodeTree {
  /** Begins above the ids of an earlier process, as with an epoch of ZooKeeper: a database may have stored them as fencing tokens. */
  #zxid = Date.now() * 1_000;
  readonly #nodes = new Map<string, Znode>();
  readonly #ephemerals = new Map<string, Set<string>>();
  readonly #dataWatches = new WatchTable();
  readonly #childWatches = new WatchTable();

  /** @param onContainerEmptied called when the last child of that container was removed */
  constructor(private readonly onContainerEmptied: (path: string) => void) {
    const mode = CreateMode.PERSISTENT;
    this.#nodes.set('/', new Znode({ data: Buffer.alloc(0), mode, zxid: 0, sessionId: '0' }));
  }

  /** Number of nodes, including the root. */
  get size(): number {
    return this.#nodes.size;
  }

  get watchCount(): number {
    return this.#dataWatches.size + this.#childWatches.size;
  }

  /** Starts a new transaction and returns its id. */
  nextZxid(): number {
    return ++this.#zxid;
  }

  get(path: string): Znode | undefined {
    return this.#nodes.get(path);
  }

  /** Inserts a node. The parent must exist, and the node must not. */
  insert(path: string, origin: ZnodeOrigin): void {
    const node = new Znode(origin);
    const parent = parentPath(path);
    this.#nodes.get(parent)!.addChild(nodeName(path));
    this.#nodes.set(path, node);
    if (node.isEphemeral) this.#ephemeralsOf(node.owner).add(path);
    for (const listener of this.#dataWatches.take(path)) listener.onWatch('created', path);
    for (const listener of this.#childWatches.take(parent)) listener.onWatch('child', parent);
  }

  /** Removes a node, which must exist and have no children. */
  remove(path: string): void {
    const { owner, isEphemeral } = this.#nodes.get(path)!;
    const parent = parentPath(path);
    const above = this.#nodes.get(parent)!;
    this.#nodes.delete(path);
    above.removeChild(nodeName(path));
    if (isEphemeral) this.#ephemeralsOf(owner).delete(path);
    const told = this.#dataWatches.take(path);
    for (const listener of told) listener.onWatch('deleted', path);
    for (const listener of this.#childWatches.take(path))
      if (!told.has(listener)) listener.onWatch('deleted', path);
    for (const listener of this.#childWatches.take(parent)) listener.onWatch('child', parent);
    if (above.isContainer && above.children.size === 0) this.onContainerEmptied(parent);
  }

  /** Replaces the data of a node, which must exist. */
  setData(path: string, data: Buffer, zxid: number): void {
    this.#nodes.get(path)!.replaceData(data, zxid);
    for (const listener of this.#dataWatches.take(path)) listener.onWatch('changed', path);
  }

  /** Removes the ephemeral nodes of that session. */
  removeEphemerals(sessionId: string): void {
    for (const path of [...(this.#ephemerals.get(sessionId) ?? [])]) this.remove(path);
    this.#ephemerals.delete(sessionId);
  }

  watchData(path: string, listener: LinkListener): void {
    this.#dataWatches.add(path, listener);
  }

  watchChildren(path: string, listener: LinkListener): void {
    this.#childWatches.add(path, listener);
  }

  /** Removes the watch of a link; `false` if there is none. */
  unwatch(kind: WatchKind, path: string, listener: LinkListener): boolean {
    return (kind === 'data' ? this.#dataWatches : this.#childWatches).remove(path, listener);
  }

  /** Removes all watches of a link. */
  forget(listener: LinkListener): void {
    this.#dataWatches.forget(listener);
    this.#childWatches.forget(listener);
  }

  #ephemeralsOf(sessionId: string): Set<string> {
    const paths = this.#ephemerals.get(sessionId) ?? new Set();
    this.#ephemerals.set(sessionId, paths);
    return paths;
  }
}
