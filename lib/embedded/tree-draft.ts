import { nodeName, parentPath } from '../zookeeper/connection/znode-path.js';
import { Znode, type ZnodeTree } from './znode-tree.js';

/** What changes a tree. */
export type WritableTree = Pick<ZnodeTree, 'nextZxid' | 'get' | 'insert' | 'remove' | 'setData'>;

/** Changes of a tree in one transaction, each of which sees those before it. The tree stays as it is until `commit`. */
export class TreeDraft implements WritableTree {
  readonly #zxid: number;
  /** The nodes that differ from those of the tree; `undefined`: removed. */
  readonly #nodes = new Map<string, Znode | undefined>();
  readonly #changes: (() => void)[] = [];

  constructor(private readonly tree: WritableTree) {
    this.#zxid = tree.nextZxid();
  }

  nextZxid(): number {
    return this.#zxid;
  }

  get(path: string): Znode | undefined {
    return this.#nodes.has(path) ? this.#nodes.get(path) : this.tree.get(path);
  }

  insert(path: string, origin: ConstructorParameters<typeof Znode>[0]): void {
    this.#own(parentPath(path)).addChild(nodeName(path));
    this.#nodes.set(path, new Znode(origin));
    this.#changes.push(() => this.tree.insert(path, origin));
  }

  remove(path: string): void {
    this.#own(parentPath(path)).removeChild(nodeName(path));
    this.#nodes.set(path, undefined);
    this.#changes.push(() => this.tree.remove(path));
  }

  setData(path: string, data: Buffer, zxid: number): void {
    this.#own(path).replaceData(data, zxid);
    this.#changes.push(() => this.tree.setData(path, data, zxid));
  }

  /** Makes the changes, in their order. The tree must not have changed since the draft was begun. */
  commit(): void {
    for (const change of this.#changes) change();
  }

  /** The node, which exists, as one that may be changed here. */
  #own(path: string): Znode {
    const node = this.#nodes.get(path) ?? this.tree.get(path)!.copy();
    this.#nodes.set(path, node);
    return node;
  }
}
