import type { SharedCount } from '../../../lib/zookeeper/shared/shared-count.js';
import { Patience } from '../patience.js';
import type { SimulatedClient } from '../simulated-client.js';
import { Times } from '../times.js';
import type { World, WorldObserver } from '../world.js';
import type { CounterJudge } from './counter-judge.js';

/** A client's view of the number as a shared count: only values that existed, never an older one, and soon the current one. */
export class CountFollower implements WorldObserver {
  readonly lasting = 0;
  readonly count: SharedCount;
  /** When it was read for the first time. */
  #startedAt = Times.never;
  #zxid = -1;

  constructor(
    private readonly world: World,
    private readonly judge: CounterJudge,
    private readonly client: SimulatedClient,
  ) {
    this.count = client.locks.sharedCount(judge.path, 0);
    const makes = (before: bigint | undefined, now: bigint) => before === undefined && now === 0n;
    judge.began({ what: 'start', client, makes, isRepeatable: true });
    world.observers.push(this);
    void this.#start();
  }

  check(): void {
    const { history, clock } = this.world;
    const { value, zxid } = this.count.versionedCount;
    const { name } = this.client;
    if (zxid < this.#zxid) history.accuse(`${name} goes back from ${this.#zxid} to ${zxid}`);
    if (zxid > this.#zxid && this.judge.values.get(zxid) !== BigInt(value))
      history.accuse(`${name} has seen ${value}, which was never there`);
    this.#zxid = zxid;
    if (zxid === this.judge.zxid) return;
    const since = Times.latest(this.judge.changedAt, this.#startedAt, this.client.calmSince);
    if (clock.now() > since + Patience.TO_SERVE)
      history.accuse(`${name} takes it for ${value} since ${since.toFixed(1)} ms`);
  }

  stop(): void {}

  async #start(): Promise<void> {
    const { client, count } = this;
    while (client.closedAt === undefined && this.#startedAt === Times.never)
      await count.start().then(
        () => (this.#startedAt = this.world.clock.now()),
        () => client.sleep(Patience.TO_SERVE), // no answer in time: try again
      );
  }
}
