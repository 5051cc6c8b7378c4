import type { ZnodeTree } from '../../lib/embedded/znode-tree.js';
import type { LinkListener } from '../../lib/zookeeper/connection/transport.js';
import type { QueuedNode } from './queued-node.js';

const DIGITS = 10;

/**
 * What really happens in the directory of a lock: told at once by the tree itself, and not by any client.
 *
 * Invariant: the order of creation is that of the numbers, for the counter restarts only in an empty directory.
 */
export class LockQueue {
  /** The nodes that are there, in their order. */
  readonly nodes: QueuedNode[] = [];
  readonly #claims = new Map<string, (node: QueuedNode) => void>();
  readonly #watcher: LinkListener;

  constructor(
    private readonly tree: ZnodeTree,
    readonly directory: string,
    private readonly now: () => number,
  ) {
    const ignore = () => {};
    const onWatch = () => this.#look();
    this.#watcher = { onConnected: ignore, onDisconnected: ignore, onExpired: ignore, onWatch };
    this.#look();
  }

  get first(): QueuedNode | undefined {
    return this.nodes[0];
  }

  /** Have `claim` called with the nodes that are created under that path and a number. */
  announce(path: string, claim: (node: QueuedNode) => void): void {
    this.#claims.set(path, claim);
  }

  /** The observer goes, and its watches with it. */
  stop(): void {
    this.tree.forget(this.#watcher);
  }

  #look(): void {
    this.tree.watchData(this.directory, this.#watcher);
    this.tree.watchChildren(this.directory, this.#watcher);
    const children = this.tree.get(this.directory)?.children ?? new Set<string>();
    const paths = new Set([...children].map((name) => `${this.directory}/${name}`));
    for (const node of this.nodes.filter(({ path }) => !paths.has(path))) this.#remove(node);
    for (const { path } of this.nodes) paths.delete(path);
    for (const path of paths) this.#add(path);
    if (this.first) this.first.firstSince ??= this.now();
  }

  #add(path: string): void {
    const { czxid, ephemeralOwner: owner } = this.tree.get(path)!.stat();
    const node = { path, czxid, owner, hadOthersAhead: this.nodes.length > 0 };
    this.nodes.push(node);
    this.#claims.get(path.slice(0, -DIGITS))?.(node);
  }

  #remove(node: QueuedNode): void {
    node.goneAt = this.now();
    this.nodes.splice(this.nodes.indexOf(node), 1);
  }
}
