import type { VirtualClock } from '../../../support/time.js';
import type { Way } from '../../../../lib/testing/redis/network/wire.js';

/** How long a message is under way while all flows, in ms. */
const FLOW = 0.1;

/** What clients and servers send to each other: each message arrives when it is chosen, those of one direction in their order. */
export class SteppedNetwork {
  readonly #ways: SteppedWay[] = [];
  #isFlowing = true;

  constructor(readonly clock: VirtualClock) {}

  /** Makes one direction of a connection. */
  readonly way = (): SteppedWay => {
    const way = new SteppedWay(this);
    this.#ways.push(way);
    return way;
  };

  /** Whether nothing waits any more: all arrives by itself. */
  get isFlowing(): boolean {
    return this.#isFlowing;
  }

  set isFlowing(isFlowing: boolean) {
    this.#isFlowing = isFlowing;
    if (isFlowing) for (const way of this.#ways) way.flow();
  }
}

interface Message {
  readonly arrive: () => void;
  /** Those of a command, or what the client does with the connection; none from a server. */
  readonly words: readonly string[];
}

/** The first that a client sends on a connection; until it sends more, it knows only that there is one. */
const FIRST = ['connect', 'info'];

export class SteppedWay implements Way {
  #messages: Message[] = [];
  #blockades = 0;
  /** Whether a client has sent more than it takes to be connected. */
  isUsed = false;

  constructor(private readonly network: SteppedNetwork) {}

  /** The message that may arrive next. */
  get next(): Message | undefined {
    return this.#blockades > 0 ? undefined : this.#messages[0];
  }

  send(arrive: () => void, words: readonly string[] = []): void {
    if (words.length > 0 && !FIRST.includes(words[0]!)) this.isUsed = true;
    this.#messages.push({ arrive, words });
    if (this.network.isFlowing) this.#arriveSoon();
  }

  arrive(): void {
    this.#messages.shift()!.arrive();
  }

  block(): () => void {
    this.#blockades += 1;
    return () => {
      this.#blockades -= 1;
      if (this.network.isFlowing) this.flow();
    };
  }

  drop(): void {
    this.#messages = [];
  }

  flow(): void {
    for (let left = this.#messages.length; left > 0; left--) this.#arriveSoon();
  }

  #arriveSoon(): void {
    const { network } = this;
    network.clock.setTimer(() => {
      if (network.isFlowing && this.next) this.arrive();
    }, FLOW);
  }
}
