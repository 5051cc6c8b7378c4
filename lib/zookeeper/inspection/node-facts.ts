import { ReturnCode, ZooKeeperError } from '../connection/zookeeper-error.js';
import type { ZooKeeperConnection } from '../connection/zookeeper-connection.js';

/** What a node tells an operator; none of it changes while the node lives, but for a request to revoke. */
export interface NodeFact {
  readonly czxid: number;
  readonly owner: string;
  readonly since?: number;
  readonly data?: string;
}

/** Of what a node carries, so many characters are shown. */
const SHOWN = 200;

/** What is known of the nodes of queues; each is read once. */
export class NodeFacts {
  #known = new Map<string, NodeFact>();
  #next = new Map<string, NodeFact>();

  constructor(private readonly connection: ZooKeeperConnection) {}

  /** Nothing when there is no such node any more, or when it may not be read. */
  async of(path: string): Promise<NodeFact | undefined> {
    const fact = this.#known.get(path) ?? (await this.#read(path));
    if (fact) this.#next.set(path, fact);
    return fact;
  }

  /** A round has ended: what nobody asked for in it is forgotten. */
  turn(): void {
    this.#known = this.#next;
    this.#next = new Map();
  }

  async #read(path: string): Promise<NodeFact | undefined> {
    try {
      const { data, stat } = await this.connection.getData(path);
      const { czxid, ephemeralOwner: owner, ctime } = stat;
      return { czxid, owner, since: ctime?.getTime(), data: data.toString('utf8', 0, SHOWN) };
    } catch (error) {
      if (ZooKeeperError.is(error, ReturnCode.NONODE)) return undefined;
      if (ZooKeeperError.is(error, ReturnCode.NOAUTH)) return undefined;
      throw error;
    }
  }
}
