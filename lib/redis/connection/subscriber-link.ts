import type { RedisNode } from './redis-client.js';

/** What a {@link SubscriberLink} tells. */
export interface SubscriberLinkListener {
  message(channel: string): void;
  /** Connected, with no subscriptions. */
  up(link: SubscriberLink): void;
  /** Not connected any more; messages may have been missed. */
  down(link: SubscriberLink): void;
  /** Does not connect again. */
  ended(link: SubscriberLink): void;
}

/** One connection in subscriber mode. What is subscribed after a reconnect is up to its owner. */
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
    node.on('moved', () => this.#startAgain()); // the server has ended subscriptions: their slot has another master
    node.on('error', () => this.#startAgain()); // so does version 5 of ioredis tell of an answer that it did not expect
    node.connect().catch(() => {}); // it goes on by itself, or ends
  }

  get isUp(): boolean {
    return this.node.status === 'ready';
  }

  async subscribe(channel: string): Promise<void> {
    await this.node.call(this.isSharded ? 'ssubscribe' : 'subscribe', channel);
  }

  /** Nobody waits for the answer: a message that comes nevertheless finds no listener. */
  unsubscribe(channel: string): void {
    this.node.call(this.isSharded ? 'sunsubscribe' : 'unsubscribe', channel).catch(() => {});
  }

  close(): void {
    if (this.node.status !== 'end') this.node.disconnect(); // else it would keep the process alive for a while
  }

  /** What is subscribed is in doubt: `down` follows, then `up` or `ended`. */
  #startAgain(): void {
    if (this.isUp) this.node.disconnect(true);
  }
}
