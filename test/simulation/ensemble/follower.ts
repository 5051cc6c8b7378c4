import type { Clock } from '../../../lib/core/clock.js';
import type { EmbeddedServer } from '../../../lib/embedded/embedded-server.js';
import { Outbox } from '../../../lib/embedded/embedded-transport.js';
import { ZnodeTree } from '../../../lib/embedded/znode-tree.js';
import type {
  LinkListener,
  OpenOptions,
  Transport,
  TransportLink,
} from '../../../lib/zookeeper/connection/transport.js';
import { Timing } from '../timing.js';
import { FollowerLink } from './follower-link.js';

/**
 * A server of an ensemble that is not the leader: it answers reads itself, from its own copy of the tree; it forwards writes
 * and `sync` to the leader, and answers when the leader's answer has come back, after every commit before it. Every half tick
 * it reports to the leader the sessions that it has heard from.
 *
 * The link between the two has no delay, or is cut: then reads are answered, and become stale; messages in both directions
 * wait, in order. So a lagging follower is one that was cut off for a moment.
 */
export class Follower implements Transport {
  readonly tree = new ZnodeTree(() => {});
  readonly outbox: Outbox;
  #state: 'following' | 'cut off' | 'deposed' | 'down' = 'following';
  #ups: (() => void)[] = [];
  #downs: (() => void)[] = [];
  readonly #links = new Set<FollowerLink>();
  /** The sessions, with the timeouts that it has granted. */
  readonly #touched = new Map<string, number>();

  constructor(
    readonly leader: EmbeddedServer,
    readonly clock: Clock,
  ) {
    this.outbox = new Outbox((flush) => void clock.setTimer(flush, 0));
    this.#replicate(leader.tree);
  }

  /** Whether it considers itself the leader. Then it answers `sync`, but cannot commit anything. */
  get isDeposed(): boolean {
    return this.#state === 'deposed';
  }

  open(options: OpenOptions, listener: LinkListener): TransportLink {
    const link = new FollowerLink(this, options, listener);
    if (this.#state === 'down') link.hangUp('connection refused');
    else this.#links.add(link);
    return link;
  }

  async close(): Promise<void> {}

  /** Sends to the leader: now, or when it can be reached. */
  up(message: () => void): void {
    if (this.#state === 'following') this.leader.receive(message);
    else this.#ups.push(message);
  }

  /** Receives from the leader. */
  down(message: () => void): void {
    if (this.#state === 'cut off' || this.#state === 'deposed') this.#downs.push(message);
    else message();
  }

  /** It has heard from that session. */
  touched(id: string, timeout: number): void {
    if (this.#touched.size === 0) {
      const half = Timing.tick / 2;
      this.clock.setTimer(() => this.#ping(), half - (this.clock.now() % half));
    }
    this.#touched.set(id, timeout);
  }

  left(link: FollowerLink): void {
    this.#links.delete(link);
  }

  /** The leader cannot be reached. */
  cutOff(): void {
    if (this.#state === 'following') this.#state = 'cut off';
  }

  /** It was the leader until now, and does not know that there is another one. */
  depose(): void {
    if (this.#state === 'following') this.#state = 'deposed';
  }

  /** It gives up: it serves no client any more, and what has not reached the leader is lost. */
  stop(): void {
    this.#ups = [];
    this.#touched.clear();
    for (const link of this.#links) link.hangUp('the server has stopped');
    this.#links.clear();
    this.#catchUp('down');
  }

  /** The leader can be reached again: what has happened meanwhile arrives, then what has waited is sent. */
  recover(): void {
    this.#catchUp('following');
    const ups = this.#ups;
    this.#ups = [];
    for (const message of ups) this.leader.receive(message);
  }

  #catchUp(state: 'following' | 'down'): void {
    this.#state = state;
    const downs = this.#downs;
    this.#downs = [];
    for (const message of downs) message();
  }

  #ping(): void {
    const touched = [...this.#touched];
    this.#touched.clear();
    this.up(() => {
      for (const [id, timeout] of touched) this.leader.touch(id, timeout);
    });
  }

  /** Every change of the leader's tree is applied to its own, as soon as it is received. */
  #replicate(tree: ZnodeTree): void {
    for (const change of ['insert', 'remove', 'setData'] as const) {
      const make = tree[change].bind(tree) as (...args: unknown[]) => void;
      const repeat = this.tree[change].bind(this.tree) as (...args: unknown[]) => void;
      tree[change] = (...args: unknown[]) => {
        make(...args);
        this.down(() => repeat(...args));
      };
    }
  }
}
