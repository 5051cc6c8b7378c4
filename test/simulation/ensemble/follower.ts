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
 * A server of an ensemble that is not the leader: it answers reads by itself, from its own copy of the tree; writes and `sync` it
 * passes on to the leader, and answers when the leader's answer has come back, behind every commit before it. Of the sessions
 * that it has heard of it tells the leader every half tick.
 *
 * The way between the two is without delay, or cut: then reads are answered, and grow old; what is to go up and what is to
 * come down waits, in order. So one that lags is one that was cut off for a moment.
 */
export class Follower implements Transport {
  readonly tree = new ZnodeTree(() => {});
  readonly outbox: Outbox;
  #state: 'following' | 'cut off' | 'deposed' | 'down' = 'following';
  #ups: (() => void)[] = [];
  #downs: (() => void)[] = [];
  readonly #links = new Set<FollowerLink>();
  /** With the timeouts, as it has granted them. */
  readonly #touched = new Map<string, number>();

  constructor(
    readonly leader: EmbeddedServer,
    readonly clock: Clock,
  ) {
    this.outbox = new Outbox((flush) => void clock.setTimer(flush, 0));
    this.#replicate(leader.tree);
  }

  /** Does it take itself for the leader? Then it answers `sync`, but cannot commit anything. */
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

  /** To the leader: now, or when it can be reached. */
  up(message: () => void): void {
    if (this.#state === 'following') this.leader.receive(message);
    else this.#ups.push(message);
  }

  /** From the leader. */
  down(message: () => void): void {
    if (this.#state === 'cut off' || this.#state === 'deposed') this.#downs.push(message);
    else message();
  }

  /** It has heard of that session. */
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

  /** It gives up: it serves nobody any more, and what has not reached the leader is lost. */
  stop(): void {
    this.#ups = [];
    this.#touched.clear();
    for (const link of this.#links) link.hangUp('the server has stopped');
    this.#links.clear();
    this.#catchUp('down');
  }

  /** The leader can be reached again: what has happened meanwhile comes down, then goes up what has waited. */
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

  /** Every change of the leader's tree is one of its own, as soon as it hears of it. */
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
