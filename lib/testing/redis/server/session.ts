import type { Reply } from './reply.js';

/** A connection as the server has it. */
export class Session {
  readonly channels = new Set<string>();
  readonly shardChannels = new Set<string>();
  /** How much was written to the replicas when it last wrote. */
  writtenTo = 0;
  /** Whether its next command is about a slot that comes to this node of a cluster. */
  isAsking = false;

  /** @param push sends a message of a subscription: its kind, its channel and its text */
  constructor(readonly push: (message: readonly string[]) => void = () => {}) {}
}

/** The subscribers of each channel. */
export class Channels {
  readonly #sessions = new Set<Session>();

  add(session: Session): void {
    this.#sessions.add(session);
  }

  delete(session: Session): void {
    this.#sessions.delete(session);
  }

  /** Ends the subscriptions to those channels of a shard, and says so. */
  dismiss(isOver: (channel: string) => boolean): void {
    for (const session of this.#sessions)
      for (const channel of [...session.shardChannels].filter(isOver)) {
        session.shardChannels.delete(channel);
        session.push(['sunsubscribe', channel]);
      }
  }

  /** Returns how many have received it. */
  publish(channel: string, text: string, isSharded: boolean): number {
    let received = 0;
    for (const session of this.#sessions) {
      if (!(isSharded ? session.shardChannels : session.channels).has(channel)) continue;
      received += 1;
      session.push([isSharded ? 'smessage' : 'message', channel, text]);
    }
    return received;
  }

  /** Number of sessions that are subscribed to it. */
  count(channel: string, isSharded: boolean): number {
    const isSubscribed = (session: Session) =>
      (isSharded ? session.shardChannels : session.channels).has(channel);
    return [...this.#sessions].filter(isSubscribed).length;
  }

  subscribe(session: Session, channels: readonly string[], isSharded: boolean): Reply {
    const all = isSharded ? session.shardChannels : session.channels;
    for (const channel of channels) all.add(channel);
    return all.size;
  }

  unsubscribe(session: Session, channels: readonly string[], isSharded: boolean): Reply {
    const all = isSharded ? session.shardChannels : session.channels;
    for (const channel of channels) all.delete(channel);
    return all.size;
  }
}
