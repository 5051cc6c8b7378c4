import { masterOfSlot, nodeAddress } from './cluster-slots.js';
import {
  followCredentials,
  isRedisCluster,
  type RedisClient,
  type RedisCluster,
  type RedisNode,
} from './ioredis.js';

/** Listener of a {@link SubscriberLink}. */
interface SubscriberLinkListener {
  message(channel: string): void;
  /** Connected, with no subscriptions. */
  up(link: SubscriberLink): void;
  /** No longer connected; messages may have been missed. */
  down(link: SubscriberLink): void;
  /** Does not connect again. */
  ended(link: SubscriberLink): void;
}

/** One connection in subscriber mode. Its owner subscribes again after a reconnect. */
export class SubscriberLink {
  constructor(
    private readonly node: RedisNode,
    private readonly isSharded: boolean,
    listener: SubscriberLinkListener,
  ) {
    node.on(isSharded ? 'smessage' : 'message', (channel) => listener.message(String(channel)));
    node.on('ready', () => listener.up(this));
    node.on('close', () => listener.down(this));
    node.on('end', () => listener.ended(this));
    node.on('moved', () => this.#startAgain()); // the server ended subscriptions: their slot has another master
    node.on('error', () => this.#startAgain()); // ioredis 5 reports an unexpected reply this way
    node.connect().catch(() => {}); // it retries by itself, or ends
  }

  get isUp(): boolean {
    return this.node.status === 'ready';
  }

  async subscribe(channel: string): Promise<void> {
    await this.node.call(this.isSharded ? 'ssubscribe' : 'subscribe', channel);
  }

  /** The client of this connection. */
  get client(): RedisNode {
    return this.node;
  }

  /** Does not wait for the reply: a message that still arrives finds no listener. */
  unsubscribe(channel: string): void {
    this.node.call(this.isSharded ? 'sunsubscribe' : 'unsubscribe', channel).catch(() => {});
  }

  close(): void {
    if (this.node.status !== 'end') this.node.disconnect(); // after the end, that would keep the process alive for a while
  }

  /** Reconnects because the subscriptions are in doubt: `down` follows, then `up` or `ended`. */
  #startAgain(): void {
    if (this.isUp) this.node.disconnect(true);
  }
}

/** Options of every subscriber connection. */
const OPTIONS = {
  autoResubscribe: false, // done by this library, which then knows when it is done
  lazyConnect: true,
  maxRetriesPerRequest: null,
  commandTimeout: undefined,
  enableAutoPipelining: false,
  keepAlive: 10_000, // ms; it only listens, so nothing else would detect a dead peer
};

/** Delay before a subscriber connects again, in ms. */
const reconnectDelay = (attempt: number) => Math.min(attempt * 50, 500);

function duplicateFor(client: RedisNode): RedisNode {
  const own = client.duplicate({ ...OPTIONS, retryStrategy: reconnectDelay });
  followCredentials(own, client);
  return own;
}

/** The subscriber connections: one, or one for each master of a cluster with sharded channels. */
export class SubscriberLinks {
  readonly #links = new Map<string, SubscriberLink>();
  #isClosed = false;

  constructor(
    private readonly client: RedisClient,
    private readonly isSharded: boolean,
    private readonly listener: SubscriberLinkListener,
  ) {}

  /** The connection that receives the messages of this channel; `undefined` while the cluster does not know it. */
  of(channel: string): SubscriberLink | undefined {
    if (this.#isClosed) return undefined;
    const { client } = this;
    if (!isRedisCluster(client)) return this.#link('', () => duplicateFor(client));
    const node = this.#nodeOf(client, channel);
    if (node === undefined) return undefined;
    // A node may be gone for good: when the connection ends, the cluster is asked again.
    const make = () => node.duplicate({ ...OPTIONS, retryStrategy: () => null });
    return this.#link(this.isSharded ? nodeAddress(node) : '', make);
  }

  /** The clients of the connections. */
  get clients(): RedisNode[] {
    return [...this.#links.values()].map(({ client }) => client);
  }

  /** Removes a connection that has ended. */
  drop(link: SubscriberLink): void {
    for (const [name, other] of this.#links) if (other === link) this.#links.delete(name);
  }

  close(): void {
    this.#isClosed = true;
    for (const link of this.#links.values()) link.close();
    this.#links.clear();
  }

  /** The master of the slot with sharded channels, otherwise any master. */
  #nodeOf(cluster: RedisCluster, channel: string): RedisNode | undefined {
    if (this.isSharded) return masterOfSlot(cluster, channel);
    const masters = cluster.nodes('master').filter(({ status }) => status !== 'end');
    return masters[Math.floor(Math.random() * masters.length)];
  }

  #link(name: string, make: () => RedisNode): SubscriberLink {
    const link = this.#links.get(name) ?? new SubscriberLink(make(), this.isSharded, this.listener);
    this.#links.set(name, link);
    return link;
  }
}
