import { CreateMode } from '../../lib/zookeeper/connection/zookeeper-connection.js';
import type { LinkListener } from '../../lib/zookeeper/connection/transport.js';
import type { SharedCount } from '../../lib/zookeeper/shared/shared-count.js';
import { Patience } from './patience.js';
import type { SimulatedClient } from './simulated-client.js';
import { Times } from './times.js';
import type { World } from './world.js';

interface Follower {
  readonly count: SharedCount;
  /** When it was read for the first time. */
  startedAt: number;
}

/** A shared count on the server, and the value that clients see: they have to keep up with it. */
export class ObservedCount {
  /** Called when it has changed on the server, or a client has learned of that. */
  onChange = () => {};
  #changedAt = 0;
  #isRestored = false;
  readonly #followers = new Map<SimulatedClient, Follower>();
  readonly #watcher: LinkListener;

  /** @param highest its value at the beginning, and when all is well */
  constructor(
    private readonly world: World,
    private readonly path: string,
    readonly highest: number,
  ) {
    const { tree } = world.server;
    const origin = { data: bytesOf(highest), mode: CreateMode.PERSISTENT, sessionId: '0' };
    tree.insert(path, { ...origin, zxid: tree.nextZxid() });
    const ignore = () => {};
    const onWatch = () => this.#changed();
    this.#watcher = { onConnected: ignore, onDisconnected: ignore, onExpired: ignore, onWatch };
    tree.watchData(path, this.#watcher);
    world.counts.push(this);
  }

  /** Value on the server. */
  get value(): number {
    return this.world.server.tree.get(this.path)!.data.readInt32BE();
  }

  /** All values that clients may see now. */
  get believed(): number[] {
    return [this.value, ...[...this.#followers.values()].map(({ count }) => count.count)];
  }

  /** The view of that client. The seed is the lowest: before the first read, no client gets too many permits. */
  of(client: SimulatedClient): SharedCount {
    const there = this.#followers.get(client);
    if (there) return there.count;
    const follower = { count: client.locks.sharedCount(this.path, 1), startedAt: Times.never };
    this.#followers.set(client, follower);
    follower.count.onChange(() => this.onChange());
    void this.#start(client, follower);
    return follower.count;
  }

  /** Sets it, from outside or as one of our clients. */
  set(value: number, client?: SimulatedClient): void {
    const { server } = this.world;
    if (client)
      return void this.of(client)
        .setCount(value)
        .catch(() => {}); // it may be set all the same
    server.receive(() => server.tree.setData(this.path, bytesOf(value), server.tree.nextZxid()));
  }

  /** Sets it to its value at the beginning, and keeps it so. */
  restore(): void {
    this.#isRestored = true;
    this.set(this.highest);
  }

  check(): void {
    const { history, clock } = this.world;
    for (const [client, { count, startedAt }] of this.#followers) {
      const since = Times.latest(this.#changedAt, startedAt, client.calmSince);
      if (count.count !== this.value && clock.now() > since + Patience.TO_SERVE)
        history.accuse(`${client.name} takes the count for ${count.count}, and not ${this.value}`);
    }
  }

  /** Removes the observer, and its watch. */
  stop(): void {
    this.world.server.tree.forget(this.#watcher);
  }

  async #start(client: SimulatedClient, follower: Follower): Promise<void> {
    while (client.closedAt === undefined && follower.startedAt === Times.never)
      await follower.count.start().then(
        () => (follower.startedAt = this.world.clock.now()),
        () => client.sleep(Patience.TO_SERVE), // no answer in time: try again
      );
  }

  #changed(): void {
    const { server, history, clock } = this.world;
    server.tree.watchData(this.path, this.#watcher);
    this.#changedAt = clock.now();
    history.note('count changed', `to ${this.value}`);
    this.onChange();
    const isLate = this.#isRestored && this.value < this.highest; // a change by a client was still under way
    if (isLate) clock.setTimer(() => this.set(this.highest), 0);
  }
}

function bytesOf(count: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(count);
  return bytes;
}
