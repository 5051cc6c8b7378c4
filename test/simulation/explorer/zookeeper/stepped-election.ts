import type { LeaseHandle } from '../../../../lib/core/internal/lease-handle.js';
import type { Leadership } from '../../../../lib/core/election/leader-term.js';
import { LockError } from '../../../../lib/core/errors/index.js';
import { type Awaiting, type Candidate, ElectionJudge } from '../../election-judge.js';
import { Times } from '../../timing.js';
import type { World } from '../../world.js';
import type { User } from './users.js';

const KEY = 'a';

/** How a user stands for election. */
interface Stand {
  /** Whether it may close its latch before it leads. */
  readonly mayGiveUp?: boolean;
  /** Whether it works under its leadership, which may go on when the latch is being closed. */
  readonly works?: boolean;
}

/** An election in which users stand, lead and step down one step after the other. */
export class SteppedElection {
  readonly #judge: ElectionJudge;
  /** How often the users of each client have stood, by its name. */
  readonly #counts = new Map<string, number>();

  constructor(private readonly world: World) {
    this.#judge = new ElectionJudge(world, `/locks/${KEY}`);
  }

  /** Stands by a latch, leads, and closes it. */
  async latch(user: User, { mayGiveUp = false, works = false }: Stand = {}): Promise<void> {
    const judge = this.#judge;
    const { client } = user;
    await user.turn('stands');
    const id = this.#nextId(user);
    const latch = client.locks.leaderLatch(KEY, { id, errorPolicy: 'standard' });
    const hasLeadership = () => latch.hasLeadership;
    const candidate = judge.announce({ id, client, errorPolicy: 'standard', hasLeadership });
    latch.onLeadership((leadership) => {
      if (candidate.isTold) this.world.history.accuse(`${id} is notified twice that it leads`);
      candidate.isTold = true;
      judge.leads(candidate, leadership);
    });
    latch.onLeadershipLost(() => (candidate.isTold = false));
    judge.stands(candidate);
    latch.start();
    const elected = this.#await(candidate, () => latch.awaitLeadership({ wait: 'forever' }));
    if (!mayGiveUp) await elected;
    const work = works ? this.#work(user, candidate, latch.enter()) : Promise.resolve();
    await user.turn('closes its latch');
    const closed = judge.closes(candidate);
    await latch.close('NOTIFY_LEADER');
    closed();
    await Promise.all([elected, work]);
  }

  /** Stands by a selector, leads once, until it has had enough, and closes it. */
  async selector(user: User): Promise<void> {
    const judge = this.#judge;
    const { client } = user;
    await user.turn('stands');
    const id = this.#nextId(user);
    let isOver!: () => void;
    const hasLed = new Promise<void>((resolve) => (isOver = resolve));
    const lead = async (leadership: Leadership) => {
      candidate.isBusy = true;
      judge.leads(candidate, leadership);
      await user.turn('has led');
      judge.hasLed(candidate, false);
      candidate.isBusy = false;
      isOver();
    };
    const selector = client.locks.leaderSelector(KEY, lead, { id, errorPolicy: 'session' });
    const hasLeadership = () => selector.hasLeadership;
    const candidate = judge.announce({ id, client, errorPolicy: 'session', hasLeadership });
    judge.stands(candidate);
    selector.start();
    await hasLed;
    const closed = judge.closes(candidate);
    await selector.close();
    closed();
  }

  #nextId({ client: { name } }: User): string {
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    return `request ${count} of ${name}`;
  }

  /** @param lease undefined if it does not lead any more */
  async #work(user: User, candidate: Candidate, lease: LeaseHandle | undefined): Promise<void> {
    if (lease === undefined) return;
    const leave = this.#judge.entered(candidate, lease);
    await lease.run(() => user.turn('ends its work'));
    leave();
    await lease.release();
  }

  async #await(candidate: Candidate, elected: () => Promise<Leadership>): Promise<void> {
    const { awaiting } = this.#judge;
    const startedAt = candidate.options.client.process.now();
    const call: Awaiting = { candidate, startedAt, endsAt: Times.never };
    awaiting.began(call);
    try {
      awaiting.elected(call, await elected());
    } catch (error) {
      awaiting.failed(call, error instanceof LockError ? error.code : String(error));
    }
  }
}
