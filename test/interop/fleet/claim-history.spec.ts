import { describe, expect, it } from '@jest/globals';
import { ClaimHistory } from './claim-history.js';

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
