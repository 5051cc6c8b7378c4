import { expect } from '@jest/globals';
import type { LeaderOptions } from '../../../lib/core/election/election-backend.js';
import type { LeaderLatch } from '../../../lib/core/election/leader-latch.js';
import type { TakeLeadership } from '../../../lib/core/election/leader-selector.js';
import type { Leadership } from '../../../lib/core/election/leader-term.js';
import type { DistributedDoubleBarrier } from '../../../lib/zookeeper/barriers/distributed-double-barrier.js';
import type {
  LinkListener,
  OpenOptions,
  Request,
  Transport,
  TransportLink,
} from '../../../lib/zookeeper/connection/transport.js';
import { CriticalSection } from '../../faults/support/leases.js';
import { Deferred, eventually, isSettled } from '../../support/time.js';
import type { Client, Stage } from './zookeeper.js';

/** What the leaders of a test do: each leads until its signal aborts or `end()` is called, and all is written down. */
export class LeaderSelectorReign {
  /** All that there were, the last one last. */
  readonly leaderships: Leadership[] = [];
  readonly #section = new CriticalSection();
  #end = new Deferred();

  /** The names of the leaders, in their order. */
  get leaders(): readonly string[] {
    return this.#section.visitors;
  }

  /** The most that led at once. */
  get most(): number {
    return this.#section.most;
  }

  leads(who = 'somebody'): TakeLeadership {
    return async (leadership) => {
      const end = (this.#end = new Deferred());
      const { signal } = leadership;
      signal.addEventListener('abort', () => end.resolve(), { once: true });
      this.#section.enter(who);
      this.leaderships.push(leadership);
      if (!signal.aborted) await end.promise;
      this.#section.leave();
    };
  }

  /** Ends the last one. */
  end(): void {
    this.#end.resolve();
  }

  /** Resolves when so many have led, to what the last of them leads by. */
  async begun(count: number): Promise<Leadership> {
    await eventually(`${count} have led`, () => this.leaderships.length >= count, {
      within: 20_000,
    });
    return this.leaderships[count - 1]!;
  }
}

/** For what comes after servers have started again, on a busy machine. */
const PATIENCE = { within: 25_000 };

/** The latches of each test on ZooKeeper, all of its key. Their clients close them. */
export class LeaderLatchStage {
  constructor(private readonly stage: () => Stage) {}

  of({ locks }: Client, options?: LeaderOptions): LeaderLatch {
    return locks.leaderLatch(this.stage().key, options);
  }

  started(client: Client, options?: LeaderOptions): LeaderLatch {
    const latch = this.of(client, options);
    latch.start();
    return latch;
  }

  /** Resolves when it leads. */
  async leading(client: Client, options?: LeaderOptions): Promise<LeaderLatch> {
    const latch = this.started(client, options);
    await latch.awaitLeadership();
    return latch;
  }

  /** Resolves when it stands in the queue, at its end. */
  async queued(client: Client, options?: LeaderOptions): Promise<LeaderLatch> {
    const { length } = await this.stage().nodes();
    const latch = this.started(client, options);
    await this.areQueued(length + 1);
    await this.stage().caughtUp(client);
    return latch;
  }

  /** Resolves to the paths of their nodes in the order of the queue, when there are so many. */
  areQueued(count: number): Promise<string[]> {
    const { path } = this.stage();
    return eventually(
      `${count} stand for election`,
      async () => {
        const queue = await this.stage().queueIn(path);
        if (queue.length !== count) throw new Error(queue.join(', '));
        return queue;
      },
      PATIENCE,
    );
  }

  /** Resolves to the one that leads, when one does. */
  async leaderOf(latches: readonly LeaderLatch[]): Promise<LeaderLatch> {
    const leaders = await eventually(
      'one of the latches leads',
      () => {
        const found = latches.filter(({ hasLeadership }) => hasLeadership);
        return found.length > 0 && found;
      },
      PATIENCE,
    );
    if (leaders.length > 1) throw new Error(`${leaders.length} lead at the same time`);
    return leaders[0]!;
  }

  /** What the latch reports to its listeners from now on. */
  toldBy(latch: LeaderLatch): string[] {
    const told: string[] = [];
    latch.onLeadership(() => told.push('leads'));
    latch.onLeadershipLost(() => told.push('lost'));
    return told;
  }
}

/** A transport that keeps one request back until the test lets it go. */
export class LeaderLatchGate implements Transport {
  #keeps: (request: Request) => boolean = () => false;
  #arrival = new Deferred();
  #send: () => void = () => {};

  constructor(private readonly transport: Transport) {}

  get createsWithAcl(): boolean {
    return this.transport.createsWithAcl ?? false;
  }

  /** Keeps the next request back that `matches`; the promise resolves when there is one. */
  keep(matches: (request: Request) => boolean): Promise<void> {
    this.#keeps = matches;
    this.#arrival = new Deferred();
    return this.#arrival.promise;
  }

  /** Sends what was kept back. */
  letGo(): void {
    this.#send();
  }

  open(options: OpenOptions, listener: LinkListener): TransportLink {
    const link = this.transport.open(options, listener);
    return {
      request: (request, reply) => {
        if (!this.#keeps(request)) return link.request(request, reply);
        this.#keeps = () => false;
        this.#send = () => link.request(request, reply);
        this.#arrival.resolve();
      },
      detach: (session) => link.detach(session),
      close: () => link.close(),
    };
  }

  close(): Promise<void> {
    return this.transport.close();
  }
}

type WaitOptions = Parameters<DistributedDoubleBarrier['enter']>[0];

/** The double barrier of each test, and its znodes. */
export class DoubleBarrierStage {
  constructor(private readonly stage: () => Stage) {}

  /** One more member, of that client. */
  of({ locks }: Client, memberQty: number): DistributedDoubleBarrier {
    return locks.doubleBarrier(this.stage().key, memberQty);
  }

  /** Names of the members on the servers, sorted. */
  async members(): Promise<string[]> {
    return (await this.stage().nodes()).filter((name) => name !== 'ready').sort();
  }

  async isOpen(): Promise<boolean> {
    return (await this.stage().nodes()).includes('ready');
  }

  /** Waits until there are so many members. */
  async becomes(members: number): Promise<void> {
    await eventually(
      `there are ${members} members`,
      async () => (await this.members()).length === members,
    );
  }

  /** Has a member enter; resolves when the node is there, with its name and with the entry under way. */
  async come(barrier: DistributedDoubleBarrier, options?: WaitOptions) {
    const before = await this.members();
    const entered = barrier.enter(options);
    entered.catch(() => {}); // looked at by the test, later
    const name = await eventually('it has a node', async () =>
      (await this.members()).find((member) => !before.includes(member)),
    );
    return { name, entered };
  }

  /** That client has dealt with all that has happened, and still waits. */
  async expectWaiting(client: Client, over: Promise<unknown>): Promise<void> {
    await this.stage().caughtUp(client);
    expect(await isSettled(over)).toBe(false);
  }

  /** Nothing is left but perhaps the directory. */
  async expectEmpty(): Promise<void> {
    await eventually('nothing is left', async () => {
      const nodes = await this.stage().nodes();
      if (nodes.length > 0) throw new Error(nodes.join(', '));
      return true;
    });
  }
}
