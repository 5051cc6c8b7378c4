import type { Dice } from '../dice.js';
import { runSchedule, type Play } from '../run-schedule.js';
import type { SimulatedClient } from '../simulated-client.js';
import type { World } from '../world.js';
import { ElectionJudge } from './election-judge.js';
import { KEY, type User, type UserOptions } from './user.js';

/**
 * One random schedule of an election. All users stand until there is a leader after the last fault; then they close, one after
 * the other.
 *
 * @param invite creates a user that stands
 * @returns how often each kind of event happened
 * @throws when a promise is broken
 */
export function simulateElection(
  seed: number,
  invite: (options: UserOptions, dice: Dice) => User,
): Promise<ReadonlyMap<string, number>> {
  return runSchedule(seed, (world, dice, duration) => new Election(world, dice, duration, invite));
}

class Election implements Play {
  readonly #judge: ElectionJudge;
  /** Users that have not left. */
  readonly #inside = new Set<User>();
  #isCalm = false;
  #isOver = false;

  constructor(
    private readonly world: World,
    private readonly dice: Dice,
    private readonly duration: number,
    invite: (options: UserOptions, dice: Dice) => User,
  ) {
    const judge = (this.#judge = new ElectionJudge(world, `/locks/${KEY}`));
    for (const client of world.clients)
      for (let left = dice.integer(1, 2); left > 0; left--) {
        const name = `${client.name}, user ${left}`;
        this.#come(invite({ world, judge, client, dice, name }, dice));
      }
  }

  calm(): void {
    this.#isCalm = true;
  }

  victims(): readonly SimulatedClient[] {
    return this.#judge.leaders;
  }

  isOver(): boolean {
    const inside = [...this.#inside].filter(({ client }) => !client.process.isDead);
    const isDeserted = inside.every(({ client }) => client.closedAt !== undefined);
    this.#isOver ||= this.#isCalm && (this.#judge.isLed || isDeserted);
    return inside.length === 0;
  }

  #come(user: User): void {
    this.#inside.add(user);
    this.#live(user).then(
      () => void this.#inside.delete(user),
      (error: Error) => this.world.history.accuse(`the code of a user fails: ${error.stack}`),
    );
  }

  /** Stands again and again as long as there are faults, then until all is over. */
  async #live(user: User): Promise<void> {
    const { dice, duration } = this;
    const { client } = user;
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
