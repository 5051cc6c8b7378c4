import type { Clock } from '../../lib/core/clock.js';
import type {
  LinkListener,
  OpenOptions,
  Request,
  Transport,
  TransportLink,
} from '../../lib/zookeeper/connection/transport.js';
import { FaultyLink } from './faulty-link.js';
import type { Network } from './network.js';

/**
 * A client's way to the server, with the faults of a network: give each client its own, over the same server.
 *
 * Everything happens by the clock, so on a virtual one a run can be repeated exactly. Then the transport below must defer
 * by that clock too: `new EmbeddedTransport(server, (fn) => clock.setTimer(fn, 0))`.
 */
export class FaultyTransport implements Transport, Network {
  latency: () => number = () => 0;
  fate: Network['fate'] = () => 'served';
  isRefusing = false;
  #isPartitioned = false;
  readonly #links = new Set<FaultyLink>();

  constructor(
    private readonly server: Transport,
    private readonly clock: Clock,
  ) {}

  get isPartitioned(): boolean {
    return this.#isPartitioned;
  }

  open(options: OpenOptions, listener: LinkListener): TransportLink {
    const link = new FaultyLink(this.clock, this, this.server, options, listener);
    this.#links.add(link);
    return link;
  }

  /** Breaks all connections; new ones may be made. Replies under way are lost. */
  cut(unread: 'lost' | 'processed' = 'lost'): void {
    for (const link of this.#links) link.cut(unread);
  }

  /** Decides the fate of the first request that `matches`; the others are served. */
  once(fate: 'lost' | 'unanswered', matches: (request: Request) => boolean): void {
    this.fate = (request) => {
      if (!matches(request)) return 'served';
      this.fate = () => 'served';
      return fate;
    };
  }

  /** From now on nothing arrives in either direction, while both sides go on: the server may expire the session. */
  partition(): void {
    this.#isPartitioned = true;
  }

  /** Ends `partition`: what was sent meanwhile arrives, in order. */
  heal(): void {
    this.#isPartitioned = false;
    for (const link of this.#links) link.heal();
  }

  /** Nothing to do: what is under way arrives, and a virtual clock keeps no process alive. */
  async close(): Promise<void> {}
}
