import type { Clock } from '../../../core/clock.js';
import { type Fate, Link, type LinkListener } from './link.js';
import type { ServerPort } from './server-port.js';
import type { Way } from './wire.js';

/** The network between one client and the address of the servers. */
export class ClientNetwork {
  /** Additional time that a packet may take, in ms. */
  delay = 0;
  /** Called with each command that is sent. */
  onSent: (words: readonly string[]) => void = () => {};
  /** All that were opened. */
  readonly links: Link[] = [];
  #partitions = 0;
  #releases: (() => void)[] = [];

  /**
   * @param way makes one direction of a connection, given what is the `delay` by then
   * @param portAt the server that an address leads to now
   */
  constructor(
    private readonly clock: Clock,
    private readonly way: (delay: () => number) => Way,
    private readonly portAt: (address: string) => ServerPort,
  ) {}

  get isPartitioned(): boolean {
    return this.#partitions > 0;
  }

  open(listener: LinkListener, address: string): Link {
    const { clock } = this;
    const port = () => this.portAt(address);
    const way = () => this.way(() => this.delay);
    const link = new Link({ clock, way, port, listener, onSent: (words) => this.onSent(words) });
    this.links.push(link);
    if (this.isPartitioned) this.#releases.push(link.block());
    return link;
  }

  /** Its connections break. */
  cut(fate: () => Fate): void {
    for (const link of this.links) link.break(fate());
  }

  /** Nothing arrives any more, and neither side notices; the returned function ends that, and what was written arrives. */
  partition(): () => void {
    this.#partitions += 1;
    if (this.#partitions === 1) this.#releases = this.links.map((link) => link.block());
    return () => {
      this.#partitions -= 1;
      if (this.#partitions > 0) return;
      for (const release of this.#releases.splice(0)) release();
    };
  }
}
