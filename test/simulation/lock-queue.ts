import type { ZnodeTree } from '../../lib/embedded/znode-tree.js';
import type { LinkListener } from '../../lib/zookeeper/connection/transport.js';
import { nodeName } from '../../lib/zookeeper/connection/znode-path.js';
import { watcher } from './observer.js';

/** A node that is, or was, in the queue of a lock. */
export interface QueuedNode {
  readonly path: string;
  /** What its recipe calls such nodes, e.g. `lock-`. */
  readonly name: string;
  readonly czxid: number;
  /** Its place: nodes are served in the order of their sequence numbers. */
  readonly sequence: number;
  /** The transaction that created it; for a reader beside its own writer, the transaction that created that. */
  readonly token: number;
  /** The data that it was created with. */
  readonly data: string;
  /** Id of the session it lives with. */
  readonly owner: string;
  readonly addedAt: number;
  /** Since when it is in turn, or was when it was removed. */
  servedSince?: number;
  wasServed: boolean;
  /** Whether there was a time when it was not in turn. */
  hasWaited: boolean;
  /** When another client last wrote to it, which uses up a watch. */
  writtenAt?: number;
  goneAt?: number;
  /** Whether a busy server has refused to remove it: its client goes on, and removes it a little later. */
  wasKept?: boolean;
  /** How and when it was removed without its owner: another client deleted it, or an operator ended its session. */
  taken?: { readonly by: 'stranger' | 'operator'; readonly at: number };
}

/** The order in which a lock serves its queue, and which nodes may hold together: what a recipe promises. */
export interface QueueRule {
  /** Whether `node` may hold, beside those before it. `nodes` are in their order. */
  isServed(node: QueuedNode, nodes: readonly QueuedNode[]): boolean;
  /** Whether that depends on something of which clients may not have learned yet. */
  isDoubtful?(node: QueuedNode, nodes: readonly QueuedNode[]): boolean;
  mayHoldTogether(nodes: readonly QueuedNode[]): boolean;
  /** Whether a grant to `later` is in order when `earlier` was granted before. */
  mayFollow(later: QueuedNode, earlier: QueuedNode): boolean;
}

const DIGITS = 10;
/** `_c_`, a UUID, and a dash. */
const PROTECTION = 40;

/**
 * What really happens in the directory of a lock: reported at once by the tree itself, and not by any client.
 *
 * Invariant: the order of creation is that of the sequence numbers, because the counter restarts only in an empty directory.
 * The one exception is a reader that takes the number of its own writer: it may come when that is gone, even into a directory
 * that was collected and counts anew. Lower numbers may come after it then, so its client has to queue again.
 */
export class LockQueue {
  /** The existing nodes, in their order. */
  readonly nodes: QueuedNode[] = [];
  onAdded: (node: QueuedNode) => void = () => {};
  changes = 0;
  readonly #claims = new Map<string, (node: QueuedNode) => void>();
  readonly #watcher: LinkListener;

  constructor(
    private readonly tree: ZnodeTree,
    readonly directory: string,
    readonly rule: QueueRule,
    private readonly now: () => number,
  ) {
    this.#watcher = watcher(() => this.#look());
    this.#look();
  }

  get first(): QueuedNode | undefined {
    return this.nodes[0];
  }

  get served(): QueuedNode[] {
    return this.nodes.filter(({ servedSince }) => servedSince !== undefined);
  }

  /** Calls `claim` with the nodes that are created under that path, or under that path and a number. */
  announce(path: string, claim: (node: QueuedNode) => void): void {
    this.#claims.set(path, claim);
  }

  stop(): void {
    this.tree.forget(this.#watcher);
  }

  /** Determines for each node whether it is in turn; call it when the rule has changed. */
  serve(): void {
    for (const node of this.nodes) {
      const isServed = this.rule.isServed(node, this.nodes);
      node.servedSince = isServed ? (node.servedSince ?? this.now()) : undefined;
      const isDoubtful = this.rule.isDoubtful?.(node, this.nodes) ?? false;
      node.wasServed ||= isServed || isDoubtful;
      node.hasWaited ||= !isServed || isDoubtful;
    }
  }

  #look(): void {
    this.changes += 1;
    this.tree.watchData(this.directory, this.#watcher);
    this.tree.watchChildren(this.directory, this.#watcher);
    const children = this.tree.get(this.directory)?.children ?? new Set<string>();
    const paths = new Set([...children].map((name) => `${this.directory}/${name}`));
    for (const node of this.nodes.filter(({ path }) => !paths.has(path))) this.#remove(node);
    for (const { path } of this.nodes) paths.delete(path);
    for (const path of paths) this.#add(path);
    this.serve();
  }

  #add(path: string): void {
    const znode = this.tree.get(path)!;
    const { czxid, ephemeralOwner: owner } = znode.stat();
    const data = znode.data.toString();
    const name = nodeName(path).slice(PROTECTION, -DIGITS);
    const sequence = Number(path.slice(-DIGITS));
    const chosen = this.#claims.get(path);
    const beside = chosen && this.nodes.find((other) => other.sequence === sequence);
    const token = beside?.token ?? czxid;
    const about = { path, name, czxid, sequence, token, data, owner, addedAt: this.now() };
    const node: QueuedNode = { ...about, wasServed: false, hasWaited: false };
    const place = this.nodes.findIndex((other) => other.sequence > sequence);
    this.nodes.splice(place < 0 ? this.nodes.length : place, 0, node);
    (chosen ?? this.#claims.get(path.slice(0, -DIGITS)))?.(node);
    this.onAdded(node);
  }

  #remove(node: QueuedNode): void {
    node.goneAt = this.now();
    this.nodes.splice(this.nodes.indexOf(node), 1);
  }
}
