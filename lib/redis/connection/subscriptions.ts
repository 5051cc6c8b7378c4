import type { Clock } from '../../core/clock.js';
import { inTurns } from '../../core/internal/timers.js';
import type { RedisClient } from './ioredis.js';
import { type SubscriberLink, SubscriberLinks } from './subscriber-links.js';

/** One channel that is in use in this process. */
export class Channel {
  /** Number of users: each has joined the channel and not left it. */
  users = 0;
  /** Whether a message would be received now. */
  isActive = false;
  #signals = 0;
  readonly #listeners = new Set<() => void>();

  constructor(readonly name: string) {}

  /**
   * Number of reasons to look again so far: a message arrived, or the subscription began or was interrupted, so that a
   * message may have been missed. Read it before a look; if it has changed after that, look again.
   */
  get signals(): number {
    return this.#signals;
  }

  /** Notifies the listeners to look again. */
  signal(): void {
    this.#signals += 1;
    for (const tell of [...this.#listeners]) tell();
  }

  /** Calls `listener` at each signal; the returned function removes it. */
  onSignal(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

/** Delay before a failed subscription is tried again, in ms. */
const RETRY_AFTER = 100;

/**
 * The channels that this client listens to, each subscribed once for any number of waiters.
 *
 * Invariant: a channel is active only from the confirmation of its subscription to the loss of that connection, and both
 * are signals: so a waiter that looked before looks again.
 */
export class Subscriptions {
  readonly #channels = new Map<string, Channel>();
  readonly #linkOf = new Map<Channel, SubscriberLink>();
  readonly #links: SubscriberLinks;

  constructor(
    client: RedisClient,
    isSharded: boolean,
    private readonly clock: Clock,
  ) {
    this.#links = new SubscriberLinks(client, isSharded, {
      message: (name) => this.#channels.get(name)?.signal(),
      up: (link) => this.#up(link),
      down: (link) => this.#down(link),
      ended: (link) => this.#ended(link),
    });
  }

  /** The clients that are subscribed. */
  get clients(): readonly RedisClient[] {
    return this.#links.clients;
  }

  /** Subscribes to the channel, if no user has yet; `leave` it later. */
  join(name: string): Channel {
    let channel = this.#channels.get(name);
    if (channel === undefined) {
      channel = new Channel(name);
      this.#channels.set(name, channel);
      this.#subscribe(channel);
    }
    channel.users += 1;
    return channel;
  }

  leave(channel: Channel): void {
    channel.users -= 1;
    if (channel.users > 0) return;
    this.#channels.delete(channel.name);
    const link = this.#linkOf.get(channel);
    this.#linkOf.delete(channel);
    channel.isActive = false;
    if (link?.isUp) link.unsubscribe(channel.name);
  }

  /** Notifies the listeners of all channels to look again. */
  wake(): void {
    signalAll([...this.#channels.values()]);
  }

  close(): void {
    this.#links.close();
  }

  #of(link: SubscriberLink): Channel[] {
    return [...this.#linkOf].filter(([, its]) => its === link).map(([channel]) => channel);
  }

  #subscribe(channel: Channel): void {
    const link = this.#links.of(channel.name);
    if (link === undefined) return this.#later(channel);
    this.#linkOf.set(channel, link);
    if (!link.isUp) return; // subscribed when it is up
    const isCurrent = () => this.#linkOf.get(channel) === link;
    link.subscribe(channel.name).then(
      () => {
        if (!isCurrent() || !link.isUp) return;
        channel.isActive = true;
        channel.signal();
      },
      () => {
        if (isCurrent()) this.#later(channel);
      },
    );
  }

  #later(channel: Channel): void {
    this.#linkOf.delete(channel);
    const again = () => {
      if (this.#channels.get(channel.name) === channel && !this.#linkOf.has(channel))
        this.#subscribe(channel);
    };
    this.clock.setTimer(again, RETRY_AFTER, true);
  }

  #up(link: SubscriberLink): void {
    void inTurns(this.#of(link), (channel) => {
      if (this.#linkOf.get(channel) === link && !channel.isActive) this.#subscribe(channel);
    });
  }

  #down(link: SubscriberLink): void {
    const channels = this.#of(link);
    for (const channel of channels) channel.isActive = false;
    signalAll(channels);
  }

  #ended(link: SubscriberLink): void {
    this.#links.drop(link);
    for (const channel of this.#of(link)) this.#later(channel);
  }
}

/** Each signal makes waiters send commands. */
function signalAll(channels: readonly Channel[]): void {
  void inTurns(channels, (channel) => channel.signal());
}
