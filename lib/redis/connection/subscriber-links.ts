import { followCredentials } from './follow-credentials.js';
import { masterOfSlot } from './master-of-slot.js';
import { nodeAddress } from './node-address.js';
import {
  isRedisCluster,
  type RedisClient,
  type RedisCluster,
  type RedisNode,
} from './redis-client.js';
import { SubscriberLink, type SubscriberLinkListener } from './subscriber-link.js';

/** Of every connection that we subscribe with. */
const OPTIONS = {
  autoResubscribe: false, // we do it, and know when it is done
  lazyConnect: true,
  maxRetriesPerRequest: null,
  commandTimeout: undefined,
  enableAutoPipelining: false,
  keepAlive: 10_000, // ms; it only listens, so nobody else would notice that the other end has gone
};

/** Delay before a subscriber connects again, in ms. */
const reconnectDelay = (attempt: number) => Math.min(attempt * 50, 500);

function duplicateFor(client: RedisNode): RedisNode {
  const own = client.duplicate({ ...OPTIONS, retryStrategy: reconnectDelay });
  followCredentials(own, client);
  return own;
}

/** The connections that messages come by: one, or one for each master of a cluster with sharded channels. */
export class SubscriberLinks {
  readonly #links = new Map<string, SubscriberLink>();
  #isClosed = false;

  constructor(
    private readonly client: RedisClient,
    private readonly isSharded: boolean,
    private readonly listener: SubscriberLinkListener,
  ) {}

  /** The connection that this channel's messages come by; `undefined` while the cluster does not know. */
  of(channel: string): SubscriberLink | undefined {
    if (this.#isClosed) return undefined;
    const { client } = this;
    if (!isRedisCluster(client)) return this.#link('', () => duplicateFor(client));
    const node = this.#nodeOf(client, channel);
    if (node === undefined) return undefined;
    // A node may be gone for good: when the connection ends, the cluster is asked anew.
    const make = () => node.duplicate({ ...OPTIONS, retryStrategy: () => null });
    return this.#link(this.isSharded ? nodeAddress(node) : '', make);
  }

  /** Lets go of a connection that has ended. */
  drop(link: SubscriberLink): void {
    for (const [name, other] of this.#links) if (other === link) this.#links.delete(name);
  }

  close(): void {
    this.#isClosed = true;
    for (const link of this.#links.values()) link.close();
    this.#links.clear();
  }

  /** With sharded channels the master of the slot, else any. */
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
