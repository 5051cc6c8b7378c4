import type { EmbeddedServer } from '../../../../lib/embedded/embedded-server.js';
import { parentPath } from '../../../../lib/zookeeper/connection/znode-path.js';
import type {
  LinkListener,
  OpenOptions,
  Transport,
  TransportLink,
} from '../../../../lib/zookeeper/connection/transport.js';
import type { Clock } from '../../../../lib/core/clock.js';
import { Footprint, linkOf } from '../footprint.js';
import { WireLink } from './wire-link.js';

/**
 * The ways of all clients to the server. What a client sends waits until it is chosen; what the server sends arrives at once.
 *
 * That loses nothing: a client does something about a message only by its next request, and that waits. A message that comes late, after
 * other requests were handled, is the same as one that comes at once to a client whose next request is handled late. Only what
 * its user does meanwhile, or a lost connection, may come before the message: they are steps of their own, which are also chosen before.
 */
export class Network {
  readonly wires: Wire[] = [];
  footprint = new Footprint();
  #isFlowing = false;

  constructor(
    readonly server: EmbeddedServer,
    readonly clock: Clock,
    /** Whether a request without an effect is left out. */
    readonly isReduced: boolean,
  ) {
    const { tree } = server;
    for (const change of ['insert', 'remove', 'setData'] as const) {
      const make = tree[change].bind(tree) as (...args: unknown[]) => void;
      tree[change] = (path: string, ...args: unknown[]) => {
        this.footprint.writes(path);
        if (change === 'remove') this.footprint.writes('holds');
        if (change !== 'setData') this.footprint.writes(`${parentPath(path)}/*`);
        make(path, ...args);
      };
    }
  }

  /** Whether nothing waits any more: all is handled as it comes. */
  get isFlowing(): boolean {
    return this.#isFlowing;
  }

  set isFlowing(isFlowing: boolean) {
    this.#isFlowing = isFlowing;
    if (isFlowing) for (const wire of this.wires) wire.flow();
  }

  addWire(client: string): Wire {
    const wire = new Wire(this, client);
    this.wires.push(wire);
    return wire;
  }
}

/** The way of one client to the server, over one link after the other. The network may be silent: then nothing arrives on either side. */
export class Wire implements Transport {
  readonly createsWithAcl = true;
  /** All links with requests that the server may still handle; the current one last. */
  readonly links: WireLink[] = [];
  /** The share of a requested session timeout that the server grants. */
  share = 1;
  /** Called when the server handles a request of a user. */
  onServed = () => {};
  #isSilent = false;
  #held: (() => void)[] = [];

  constructor(
    readonly network: Network,
    readonly client: string,
  ) {}

  open(options: OpenOptions, listener: LinkListener): TransportLink {
    this.forgetLeft(true);
    const link = new WireLink(this, options, listener);
    this.links.push(link);
    link.begin();
    return link;
  }

  async close(): Promise<void> {}

  get current(): WireLink | undefined {
    const last = this.links.at(-1);
    return last?.isOpen ? last : undefined;
  }

  silence(): void {
    this.#isSilent = true;
  }

  heal(): void {
    this.#isSilent = false;
    const held = this.#held;
    this.#held = [];
    for (const message of held) message();
    this.flow();
  }

  /**
   * Brings a message to the client.
   *
   * @param isFelt whether that changes more than its link
   */
  down(message: () => void, isFelt = true): void {
    const { footprint } = this.network;
    footprint.writes(linkOf(this.client));
    if (isFelt) footprint.writes(this.client);
    if (this.#isSilent) this.#held.push(message);
    else message();
  }

  /** The links of which the next message can be handled. */
  get ready(): WireLink[] {
    return this.#isSilent ? [] : this.links.filter(({ isReady }) => isReady);
  }

  flow(): void {
    for (const link of this.links) link.flow();
  }

  /** The server gives up the links that the client has left, and reads nothing more of them. */
  forgetLeft(areIdle = false): void {
    for (const link of this.links.filter(({ isOpen }) => !isOpen)) {
      if (areIdle && link.isReady) continue;
      this.links.splice(this.links.indexOf(link), 1);
      link.drop();
    }
  }
}
