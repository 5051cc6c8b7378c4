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

/** A shared count on the server, and what the clients take it for: they have to keep up with it. */
export class ObservedCount {
  /** Called when it has changed on the server, or a client has heard of that. */
  onChange = () => {};
  #changedAt = 0;
  #isRestored = false;
  readonly #followers = new Map<SimulatedClient, Follower>();
  readonly #watcher: LinkListener;

  /** @param highest what it is at the beginning, and when all is well */
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

  /** On the server. */
  get value(): number {
    return this.world.server.tree.get(this.path)!.data.readInt32BE();
  }

  /** All that it may be taken for now. */
  get believed(): number[] {
    return [this.value, ...[...this.#followers.values()].map(({ count }) => count.count)];
  }

  /** What that client sees of it. The seed is the lowest: until it was read, nobody gets too much. */
  of(client: SimulatedClient): SharedCount {
    const there = this.#followers.get(client);
    if (there) return there.count;
    const follower = { count: client.locks.sharedCount(this.path, 1), startedAt: Times.never };
    this.#followers.set(client, follower);
    follower.count.onChange(() => this.onChange());
    void this.#start(client, follower);
    return follower.count;
  }

  /** Somebody sets it, from outside or as a client of ours. */
  set(value: number, client?: SimulatedClient): void {
    const { server } = this.world;
    if (client)
      return void this.of(client)
        .setCount(value)
        .catch(() => {}); // it may be set all the same
    server.receive(() => server.tree.setData(this.path, bytesOf(value), server.tree.nextZxid()));
  }

  /** It is as high as at the beginning, and stays so. */
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

  /** The observer goes, and its watch with it. */
  stop(): void {
    this.world.server.tree.forget(this.#watcher);
  }

  async #start(client: SimulatedClient, follower: Follower): Promise<void> {
    while (client.closedAt === undefined && follower.startedAt === Times.never)
      await follower.count.start().then(
        () => (follower.startedAt = this.world.clock.now()),
        () => client.sleep(Patience.TO_SERVE), // no answer in time: again
      );
  }

  #changed(): void {
    const { server, history, clock } = this.world;
    server.tree.watchData(this.path, this.#watcher);
    this.#changedAt = clock.now();
    history.note('count changed', `to ${this.value}`);
    this.onChange();
    const isLate = this.#isRestored && this.value < this.highest; // somebody's was still under way
    if (isLate) clock.setTimer(() => this.set(this.highest), 0);
  }
}

function bytesOf(count: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(count);
  return bytes;
}
