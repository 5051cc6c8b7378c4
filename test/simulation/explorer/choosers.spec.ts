import { describe, expect, it } from '@jest/globals';
import { type Choice, DepthFirst, type Reduction } from './choosers.js';
import { Footprint } from './footprint.js';

/** What a client does next: something of its own, or a change to what all see. */
type Deed = 'own' | 'shared';

/** Clients that do one thing after the other, in any order of them all. */
class Play {
  readonly #log: string[] = [];
  readonly #done: number[];

  constructor(private readonly lives: readonly (readonly Deed[])[]) {
    this.#done = lives.map(() => 0);
  }

  /** The order of the changes that all see. */
  get outcome(): string {
    return this.#log.join();
  }

  /** None when all is done. */
  choice(isReduced: boolean): Choice | undefined {
    const steps = this.lives.flatMap((_, client) => (this.#next(client) ? [`${client}`] : []));
    if (steps.length === 0) return undefined;
    const client = steps.find((one) => this.#next(Number(one)) === 'own');
    const own = client && isReduced ? { client, steps: [client] } : undefined;
    return { steps, faults: 0, own };
  }

  take(step: string): Footprint {
    const client = Number(step);
    const footprint = new Footprint();
    footprint.writes(step);
    if (this.#next(client) === 'shared') {
      footprint.writes('the log');
      this.#log.push(step);
    }
    this.#done[client]! += 1;
    return footprint;
  }

  #next(client: number): Deed | undefined {
    return this.lives[client]![this.#done[client]!];
  }
}

function exploreAll(lives: readonly (readonly Deed[])[], reduction: Reduction) {
  const chooser = new DepthFirst(reduction);
  const outcomes: string[] = [];
  let covered = 0;
  do {
    const play = new Play(lives);
    for (;;) {
      const choice = play.choice(chooser.isReduced);
      const step = choice && chooser.choose(choice);
      if (step === undefined) outcomes.push(play.outcome);
      if (typeof step === 'symbol') covered += 1;
      if (typeof step !== 'string') break;
      chooser.took(play.take(step));
    }
  } while (chooser.next());
  return { outcomes, covered };
}

describe('All runs, depth first', () => {
  const LIVES: Deed[][] = [
    ['own', 'own', 'shared', 'own'],
    ['own', 'shared', 'own', 'shared'],
    ['shared', 'own'],
  ];

  it('are all orders where nothing is left out', () => {
    const { outcomes, covered } = exploreAll(LIVES, 'none');
    expect(outcomes).toHaveLength(3_150); // 10! / (4! 4! 2!)
    expect(covered).toBe(0);
  });

  it.each(['orders', 'all'] as const)('are one of each outcome where %s are left out', (what) => {
    const { outcomes } = exploreAll(LIVES, what);
    expect([...outcomes].sort()).toEqual([...new Set(exploreAll(LIVES, 'none').outcomes)].sort());
  });

  it('need not begin with others where a client does something of its own', () => {
    expect(exploreAll(LIVES, 'orders').covered).toBeGreaterThan(10);
    expect(exploreAll(LIVES, 'all').covered).toBe(0);
  });

  it('begin with others too where what a client may do next turns out to concern them', () => {
    class Mistaken extends Play {
      override choice(): Choice | undefined {
        const choice = super.choice(false);
        const [client = ''] = choice?.steps ?? [];
        return choice && { ...choice, own: { client, steps: [client] } };
      }
    }
    const chooser = new DepthFirst();
    const outcomes = new Set<string>();
    do {
      const play = new Mistaken(LIVES);
      for (let choice = play.choice(); choice; choice = play.choice()) {
        const step = chooser.choose(choice);
        if (typeof step === 'symbol') break;
        chooser.took(play.take(step));
        if (play.choice() === undefined) outcomes.add(play.outcome);
      }
    } while (chooser.next());
    expect(outcomes).toEqual(new Set(exploreAll(LIVES, 'none').outcomes));
  });
});
