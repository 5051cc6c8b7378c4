import { describe, expect, it } from '@jest/globals';
import { DepthFirst, type Reduction } from './choosers.js';
import { Footprint } from './footprint.js';
import { seededRandom } from '../../support/seeded-random.js';

/**
 * What a client does next: something of its own; a change to one of two things that all see; something of its own, but not before the
 * first of these was changed; or a change to it before all else is done.
 */
type Deed = 'own' | 'shared' | 'other' | 'behind' | 'fleeting';

/** Clients that do one thing after the other, in any order of them all. */
class Play {
  readonly #logs = { shared: [] as string[], other: [] as string[] };
  readonly #done: number[];

  constructor(private readonly lives: readonly (readonly Deed[])[]) {
    this.#done = lives.map(() => 0);
  }

  /** The orders of the changes that all see. */
  get outcome(): string {
    return `${this.#logs.shared.join()};${this.#logs.other.join()}`;
  }

  /** The last ones are fleeting; none when all else is done. */
  get possible(): string[] {
    const isFleeting = (client: number) => this.#next(client) === 'fleeting';
    return this.due.length > 0 ? [...this.due, ...this.#named(isFleeting)] : [];
  }

  get due(): string[] {
    const isDue = (client: number) => {
      const deed = this.#next(client);
      if (deed === undefined || deed === 'fleeting') return false;
      return deed !== 'behind' || this.#logs.shared.length > 0;
    };
    return this.#named(isDue);
  }

  take(step: string): Footprint {
    const client = Number(step);
    const footprint = new Footprint();
    footprint.writes(step);
    const deed = this.#next(client);
    if (deed === 'behind') footprint.reads('shared');
    else if (deed !== 'own') {
      const log = deed === 'other' ? deed : 'shared';
      footprint.writes(log);
      this.#logs[log].push(step);
    }
    this.#done[client]! += 1;
    return footprint;
  }

  #named(isPossible: (client: number) => boolean): string[] {
    return this.lives.flatMap((_, client) => (isPossible(client) ? [`${client}`] : []));
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
    let step: string | symbol = '';
    for (; typeof step === 'string' && play.possible.length > 0;) {
      step = chooser.choose(play.possible, 0, play.due.length);
      if (typeof step === 'string') chooser.took(play.take(step));
    }
    if (typeof step === 'string') outcomes.push(play.outcome);
    else covered += 1;
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

  it('are one of each outcome where orders are left out', () => {
    const { outcomes, covered } = exploreAll(LIVES, 'orders');
    expect([...outcomes].sort()).toEqual([...new Set(exploreAll(LIVES, 'none').outcomes)].sort());
    expect(covered).toBeGreaterThan(20);
  });

  it('are at least one of each outcome in worlds at random', () => {
    const random = seededRandom(1);
    const deeds = ['own', 'shared', 'other', 'behind'] as const;
    const some = () =>
      Array.from({ length: 1 + Math.floor(2 * random()) }, () => deeds[Math.floor(4 * random())]!);
    for (let world = 0; world < 20; world++) {
      const lives = [some(), some(), some(), ['fleeting'] as const, ['fleeting'] as const];
      const { outcomes } = exploreAll(lives, 'orders');
      const all = new Set(exploreAll(lives, 'none').outcomes);
      expect({ lives, outcomes: [...new Set(outcomes)].sort() }).toEqual({
        lives,
        outcomes: [...all].sort(),
      });
    }
  });

  it('have what is possible only for a while at each place where it matters', () => {
    const fleeting: Deed[][] = [['own', 'shared', 'own', 'shared'], ['shared'], ['fleeting']];
    const { outcomes } = exploreAll(fleeting, 'orders');
    const all = new Set(exploreAll(fleeting, 'none').outcomes);
    expect([...new Set(outcomes)].sort()).toEqual([...all].sort());
    expect(all.size).toBe(3 + 9); // without it, and with it anywhere but at the end
  });
});
