import type { LeaderLatch } from '../../lib/core/election/leader-latch.js';
import type { Leadership } from '../../lib/core/election/leader-term.js';
import { LockError } from '../../lib/core/errors/index.js';
import type { SimulatedClient } from './client.js';
import type { Dice } from './dice.js';
import { type Awaiting, type Candidate, ElectionJudge } from './election-judge.js';
import { Company, runSchedule, type Play, type Schedule } from './run-schedule.js';
import { Times } from './timing.js';
import type { World } from './world.js';

export const KEY = 'a';

/** A user of one client that runs a latch or a selector. */
export interface User {
  /** Stands for election, until some time after `isOver`. */
  stand(isOver: () => boolean): Promise<void>;
}

export interface UserOptions {
  readonly world: World;
  readonly judge: ElectionJudge;
  readonly client: SimulatedClient;
  readonly dice: Dice;
  readonly name: string;
}

/**
 * Random schedules of an election. All users stand until there is a leader after the last fault; then they close, one after
 * the other.
 *
 * @param UserOfKind runs latches, or selectors
 */
export function scheduleOfElection(UserOfKind: new (options: UserOptions) => User): Schedule {
  return (seed) =>
    runSchedule(seed, (world, dice, duration) => new Election(world, dice, duration, UserOfKind));
}

class Election implements Play {
  readonly #judge: ElectionJudge;
  readonly #company: Company;
  #isCalm = false;
  #isOver = false;

  constructor(
    world: World,
    private readonly dice: Dice,
    private readonly duration: number,
    UserOfKind: new (options: UserOptions) => User,
  ) {
    const judge = (this.#judge = new ElectionJudge(world, `/locks/${KEY}`));
    this.#company = new Company(world);
    for (const client of world.clients)
      for (let left = dice.integer(1, 2); left > 0; left--) {
        const name = `${client.name}, user ${left}`;
        const user = new UserOfKind({ world, judge, client, dice, name });
        this.#company.add(client, this.#live(user, client));
      }
  }

  calm(): void {
    this.#isCalm = true;
  }

  victims(): readonly SimulatedClient[] {
    return this.#judge.leaders;
  }

  isOver(): boolean {
    const { clients } = this.#company;
    const isDeserted = clients.every(({ closedAt }) => closedAt !== undefined);
    this.#isOver ||= this.#isCalm && (this.#judge.isLed || isDeserted);
    return this.#company.isOver();
  }

  /** Stands again and again as long as there are faults, then until all is over. */
  async #live(user: User, client: SimulatedClient): Promise<void> {
    const { dice, duration } = this;
    const isGone = () => this.#isOver || client.closedAt !== undefined;
    while (!isGone()) {
      await client.sleep(dice.time(dice.pick([0, 30, 300, 2_000])));
      const until = client.process.now() + this.#stay(client);
      const isLast = until > duration;
      await user.stand(() => isGone() || (!isLast && client.process.now() >= until));
    }
  }

  /** How long a user stands: hardly at all, or for several elections. */
  #stay({ sessionTimeout }: SimulatedClient): number {
    const { dice } = this;
    return dice.time(
      dice.pick([0, 20, 300, sessionTimeout, 4 * sessionTimeout, 8 * sessionTimeout]),
    );
  }
}

/** Uses latches as clients do, at random: waits to lead and gives up, works as the leader, closes in every way. */
export class LatchUser implements User {
  #latches = 0;
  readonly #loose = new Set<Promise<void>>();

  constructor(private readonly options: UserOptions) {}

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

/** Uses selectors as clients do, at random: leads briefly and for long, heeds its signal or not, queues again. */
export class SelectorUser implements User {
  #selectors = 0;

  constructor(private readonly options: UserOptions) {}

  async stand(isOver: () => boolean): Promise<void> {
    const { judge, dice, name, client } = this.options;
    const id = `${name}, selector ${++this.#selectors}`;
    const autoRequeue = dice.chance(0.6);
    const errorPolicy = dice.pick(['standard', 'session'] as const);
    const selector = client.locks.leaderSelector(
      KEY,
      (leadership) => this.#lead(candidate, leadership, autoRequeue),
      { id, errorPolicy, autoRequeue },
    );
    const hasLeadership = () => selector.hasLeadership;
    const candidate = judge.announce({ id, client, errorPolicy, hasLeadership });
    judge.stands(candidate);
    selector.start();
    while (!isOver() && client.closedAt === undefined) {
      await client.sleep(10 + dice.time(dice.pick([20, 200, 500])));
      if (dice.chance(0.1)) selector.interruptLeadership();
      const mayQueue = !candidate.isStanding && client.closedAt === undefined && !isOver();
      if (mayQueue && selector.requeue()) judge.stands(candidate);
    }
    const closed = judge.closes(candidate);
    await selector.close();
    closed();
  }

  async #lead(candidate: Candidate, leadership: Leadership, goesOn: boolean): Promise<void> {
    const { judge, dice, client } = this.options;
    candidate.isBusy = true;
    judge.leads(candidate, leadership);
    if (dice.chance(0.3)) await judge.fenced(candidate);
    const { sessionTimeout } = client;
    const duration = dice.time(
      dice.pick([0, 50, sessionTimeout, 3 * sessionTimeout, 3 * sessionTimeout]),
    );
    const isHeedful = dice.chance(0.7);
    const end = client.process.now() + duration;
    const mayGoOn = () => !isHeedful || !leadership.signal.aborted;
    while (client.process.now() < end && mayGoOn()) await client.sleep(Math.min(20, duration));
    judge.hasLed(candidate, goesOn);
    candidate.isBusy = false;
  }
}
