import { CreateMode } from '../zookeeper/connection/zookeeper-connection.js';
import type { LinkListener } from '../zookeeper/connection/transport.js';
import { nodeName, parentPath } from '../zookeeper/connection/znode-path.js';
import { WatchTable } from './watch-table.js';
import { Znode, type ZnodeOrigin } from './znode.js';

/**
 * The nodes, their ephemeral owners and the watches on them, as one ZooKeeper server has them.
 *
 * It carries changes out and tells the watches; whether a change is allowed has been asked before.
 * There is no `/zookeeper` in it, so a new tree is empty.
 */
export class ZnodeTree {
  #zxid = 0;
  readonly #nodes = new Map<string, Znode>();
  readonly #ephemerals = new Map<string, Set<string>>();
  readonly #dataWatches = new WatchTable();
  readonly #childWatches = new WatchTable();

  /** @param onContainerEmptied the last child of that container has gone */
  constructor(private readonly onContainerEmptied: (path: string) => void) {
    const mode = CreateMode.PERSISTENT;
    this.#nodes.set('/', new Znode({ data: Buffer.alloc(0), mode, zxid: 0, sessionId: '0' }));
  }

  /** How many nodes there are, the root among them. */
  get size(): number {
    return this.#nodes.size;
  }

  get watchCount(): number {
    return this.#dataWatches.size + this.#childWatches.size;
  }

  /** Id of a new transaction. */
  nextZxid(): number {
    return ++this.#zxid;
  }

  get(path: string): Znode | undefined {
    return this.#nodes.get(path);
  }

  /** There is a parent and no such node. */
  insert(path: string, origin: ZnodeOrigin): void {
    const node = new Znode(origin);
    const parent = parentPath(path);
    this.#nodes.get(parent)!.addChild(nodeName(path));
    this.#nodes.set(path, node);
    if (node.isEphemeral) this.#ephemeralsOf(node.owner).add(path);
    for (const listener of this.#dataWatches.take(path)) listener.onWatch('created', path);
    for (const listener of this.#childWatches.take(parent)) listener.onWatch('child', parent);
  }

  /** There is such a node, and it has no children. */
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

  /** There is such a node. */
  setData(path: string, data: Buffer, zxid: number): void {
    this.#nodes.get(path)!.replaceData(data, zxid);
    for (const listener of this.#dataWatches.take(path)) listener.onWatch('changed', path);
  }

  /** Removes what lived with that session. */
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

  /** Takes all watches of a link away. */
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
