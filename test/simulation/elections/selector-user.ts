import type { Leadership } from '../../../lib/core/election/leader-term.js';
import type { Candidate } from './candidate.js';
import { KEY, type User, type UserOptions } from './user.js';

/** Uses selectors as clients do, at random: leads briefly and for long, heeds its signal or not, queues again. */
export class SelectorUser implements User {
  #selectors = 0;

  constructor(private readonly options: UserOptions) {}

  get client() {
    return this.options.client;
  }

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
