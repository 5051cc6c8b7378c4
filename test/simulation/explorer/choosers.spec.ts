import { describe, expect, it } from '@jest/globals';
import { DepthFirst, type Reduction } from './choosers.js';
import { Footprint } from './footprint.js';

/** What a client does next: something of its own; a change to what all see; or the same, and only before all else is done. */
type Deed = 'own' | 'shared' | 'fleeting';

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
  get possible(): string[] {
    const next = this.lives.map((_, client) => this.#next(client));
    const isOver = next.every((deed) => deed === undefined || deed === 'fleeting');
    return isOver ? [] : next.flatMap((deed, client) => (deed ? [`${client}`] : []));
  }

  take(step: string): Footprint {
    const client = Number(step);
    const footprint = new Footprint();
    footprint.writes(step);
    if (this.#next(client) !== 'own') {
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
    let step: string | symbol = '';
    for (; typeof step === 'string' && play.possible.length > 0;) {
      step = chooser.choose(play.possible);
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

  it('have what is possible only for a while at each place where it matters', () => {
    const fleeting: Deed[][] = [['own', 'shared', 'own', 'shared'], ['shared'], ['fleeting']];
    const { outcomes } = exploreAll(fleeting, 'orders');
    const all = new Set(exploreAll(fleeting, 'none').outcomes);
    expect([...outcomes].sort()).toEqual([...all].sort());
    expect(all.size).toBe(3 + 9); // without it, and with it anywhere but at the end
  });
});
