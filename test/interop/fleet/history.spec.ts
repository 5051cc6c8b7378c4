import { describe, expect, it } from '@jest/globals';
import { ClaimHistory, History } from './history.js';
import { type Recipe, ZOOKEEPER_RECIPES } from './recipes.js';

describe('The history of a fleet', () => {
  const [mutex, readWrite, semaphore] = ZOOKEEPER_RECIPES;
  const of = (recipe = mutex, locks = ['l', 'l', 'l', 'l']) =>
    new History(recipe!, new Map(locks.map((lock, n) => [`w${n}`, lock])));

  it('finds no fault with successive holders', () => {
    const history = of();
    history.begin('w0', 1);
    history.end('w0');
    history.begin('w1', 2);
    history.end('w1');
    expect(history.faults).toEqual([]);
    expect(history.hasServedAll()).toBe(false);
    expect(Object.fromEntries(history.grants)).toEqual({ w0: 1, w1: 1 });
  });

  it('detects two holders of a mutex', () => {
    const history = of();
    history.begin('w0', 1);
    history.begin('w1', 2);
    expect(history.faults).toEqual(['w1 came in where w0 was']);
  });

  it('detects a mutex that is granted out of order', () => {
    const history = of();
    history.begin('w0', 2);
    history.end('w0');
    history.begin('w1', 1);
    expect(history.faults).toEqual(['w1 with number 1 came behind 2']);
  });

  it('detects a writer beside readers, and a reader beside a writer', () => {
    const history = of(readWrite, ['read:/', 'read:/', 'write:/', 'read:/']);
    history.begin('w0', 1);
    history.begin('w1', 2);
    expect(history.faults).toEqual([]);
    history.begin('w2', 3);
    expect(history.faults).toEqual(['w2 came in where w0,w1 was']);
    history.end('w0');
    history.end('w1');
    history.begin('w3', 4);
    expect(history.faults.slice(1)).toEqual(['w3 came in where w2 was']);
  });

  it('detects the fourth holder of three permits', () => {
    const history = of(semaphore);
    for (const worker of ['w0', 'w1', 'w2']) history.begin(worker, 1);
    expect(history.faults).toEqual([]);
    history.begin('w3', 1);
    expect(history.faults).toEqual(['w3 came in where w0,w1,w2 was']);
  });

  it('detects a worker that begins a round before others have ended the last', () => {
    const rounds: Recipe = {
      name: 'r',
      isOrdered: false,
      isInRounds: true,
      lock: () => '',
      admits: () => true,
    };
    const history = of(rounds, ['l', 'l']);
    history.begin('w0', 1);
    history.begin('w1', 1);
    history.end('w0');
    history.end('w1');
    history.begin('w1', 1);
    history.end('w1');
    expect(history.faults).toEqual([]);
    history.begin('w1', 1);
    expect(history.faults).toEqual(['w1 began a round before all had ended the last']);
  });

  it('treats a hold as ended when the servers do, and expects the holder to know', () => {
    const history = of();
    history.begin('w0', 1);
    history.holdEnded('w0');
    history.begin('w1', 2);
    history.lost('w0');
    expect(history.faults).toEqual([]);
    expect(history.losses).toBe(1);
  });

  it('detects a holder that does not know that its hold has ended', () => {
    const history = of();
    history.begin('w0', 1);
    history.holdEnded('w0');
    history.end('w0');
    expect(history.faults).toEqual(['w0 took its lost lock for held']);
  });
});

describe('The history of claims', () => {
  it('finds no fault with successive leaders', () => {
    const history = new ClaimHistory();
    history.claim('a', 1n);
    history.claim('a', 1n);
    history.claim('b', 2n);
    history.claim('a', 3n);
    expect(history.faults).toEqual([]);
    expect(history.terms.map(({ worker }) => worker)).toEqual(['a', 'b', 'a']);
    expect(history.claims).toBe(4);
  });

  it('detects two workers that claim with the same token', () => {
    const history = new ClaimHistory();
    history.claim('a', 1n);
    history.claim('b', 1n);
    expect(history.faults).toEqual(['b and a both claim with 1']);
  });

  it('detects a worker that continues when another leads', () => {
    const history = new ClaimHistory();
    history.claim('a', 1n);
    history.claim('b', 2n);
    history.claim('a', 1n);
    expect(history.faults).toEqual(['a claims with 1, when b leads with 2']);
  });

  it('counts the old claims of a worker that cannot know, until the worker reports its loss', () => {
    const history = new ClaimHistory();
    history.claim('a', 1n);
    history.claim('b', 2n);
    history.excuse('a');
    history.claim('a', 1n);
    expect([history.faults, history.unknowing]).toEqual([[], 1]);
    history.lost('a');
    history.claim('a', 1n);
    expect(history.faults).toEqual(['a claims with 1, when b leads with 2']);
  });
});
