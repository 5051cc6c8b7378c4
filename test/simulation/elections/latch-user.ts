import { LockError } from '../../../lib/core/errors/index.js';
import type { LeaderLatch } from '../../../lib/core/election/leader-latch.js';
import { Times } from '../times.js';
import type { Candidate } from './candidate.js';
import { KEY, type User, type UserOptions } from './user.js';
import type { Awaiting } from './awaiting-rule.js';

/** Uses latches as clients do, at random: waits to lead and gives up, works as the leader, closes in every way. */
export class LatchUser implements User {
  #latches = 0;
  /** What it has started and not awaited. */
  readonly #loose = new Set<Promise<void>>();

  constructor(private readonly options: UserOptions) {}

  get client() {
    return this.options.client;
  }

  async stand(isOver: () => boolean): Promise<void> {
    const { judge, dice, name, world, client } = this.options;
    const id = `${name}, latch ${++this.#latches}`;
    const errorPolicy = dice.pick(['standard', 'session'] as const);
    const latch = client.locks.leaderLatch(KEY, { id, errorPolicy });
    const candidate = judge.announce({
      id,
      client,
      errorPolicy,
      hasLeadership: () => latch.hasLeadership,
    });
    latch.onLeadership((leadership) => {
      if (candidate.isTold) world.history.accuse(`${id} is notified twice that it leads`);
      candidate.isTold = true;
      judge.leads(candidate, leadership);
      if (dice.chance(0.3)) void judge.fenced(candidate);
    });
    latch.onLeadershipLost(() => {
      if (!candidate.isTold) world.history.accuse(`${id} is notified again that it does not lead`);
      candidate.isTold = false;
    });
    if (dice.chance(0.3)) this.#start(() => this.#await(latch, candidate)); // before it stands
    judge.stands(candidate);
    latch.start();
    while (!isOver() && client.closedAt === undefined) {
      this.#act(latch, candidate);
      await client.sleep(10 + dice.time(dice.pick([20, 200, 500])));
    }
    await this.#close(latch, candidate);
    while (this.#loose.size > 0) await Promise.all(this.#loose);
  }

  #act(latch: LeaderLatch, candidate: Candidate): void {
    switch (this.options.dice.pick(['await', 'work', 'work', 'start', 'nothing'] as const)) {
      case 'await':
        return this.#start(() => this.#await(latch, candidate));
      case 'work':
        return this.#start(() => this.#work(latch, candidate));
      case 'start':
        if (candidate.isStanding && latch.state === 'STARTED') latch.start();
        return;
      case 'nothing':
    }
  }

  #start(work: () => Promise<void>): void {
    const loose = work().finally(() => this.#loose.delete(loose));
    this.#loose.add(loose);
  }

  /** Under its leadership, if it has any. */
  async #work(latch: LeaderLatch, candidate: Candidate): Promise<void> {
    const { dice, judge, client, world } = this.options;
    const lease = latch.enter();
    if (!lease) return world.history.note('kept out');
    const leave = judge.entered(candidate, lease);
    const { sessionTimeout } = client;
    const duration = dice.time(dice.pick([0, 50, 300, 0.5 * sessionTimeout, 2 * sessionTimeout]));
    await lease.run(() => client.sleep(duration));
    leave();
    await lease.release();
  }

  async #await(latch: LeaderLatch, candidate: Candidate): Promise<void> {
    const { dice, client, judge } = this.options;
    const limit = 10 + dice.time(dice.pick([20, 200, 2_000]));
    const kind = dice.pick(['forever', 'wait', 'signal'] as const);
    const controller = new AbortController();
    const awaiting: Awaiting = {
      candidate,
      startedAt: client.process.now(),
      endsAt: kind === 'wait' ? client.process.now() + limit : Times.never,
    };
    const abort = () => {
      awaiting.abortedAt = client.process.now();
      controller.abort();
    };
    const stop = kind === 'signal' ? client.userTimer(abort, limit) : () => {};
    judge.awaiting.began(awaiting);
    try {
      const wait = kind === 'wait' ? limit : 'forever';
      const leadership = await latch.awaitLeadership({ wait, signal: controller.signal });
      judge.awaiting.elected(awaiting, leadership);
    } catch (error) {
      const code = error instanceof LockError ? error.code : String(error);
      judge.awaiting.failed(awaiting, code);
    } finally {
      stop();
    }
  }

  async #close(latch: LeaderLatch, candidate: Candidate): Promise<void> {
    const { dice, judge, client, world } = this.options;
    const mode = dice.pick(['SILENT', 'NOTIFY_LEADER'] as const);
    const closed = judge.closes(candidate);
    await latch.close(mode);
    closed();
    if (dice.chance(0.3)) await latch.close(mode);
    if (latch.state !== 'CLOSED' || latch.hasLeadership || latch.enter())
      world.history.accuse(`${candidate.options.id} is closed, and is not`);
    if (dice.chance(0.2) && client.closedAt === undefined) await this.#await(latch, candidate);
  }
}
