import { describe, expect, it } from '@jest/globals';
import { SharedFencingToken } from '../../../lib/redis/locks/redis-grant.js';
import { Deferred } from '../../support/deferred.js';

describe('A token that a writer shares with the readers inside of it', () => {
  it('is fetched once, by the first caller', async () => {
    const token = new SharedFencingToken();
    const answer = new Deferred<bigint>();
    const both = [token.get(() => answer.promise), token.get(async () => 2n)];
    answer.resolve(1n);
    expect(await Promise.all(both)).toEqual([1n, 1n]);
    expect(await token.get(async () => 3n)).toBe(1n);
  });

  it('is fetched by the next caller where the first one may not', async () => {
    const token = new SharedFencingToken();
    const answer = new Deferred<bigint>();
    const first = token.get(() => answer.promise);
    const next = token.get(async () => 2n);
    const lost = new Error('lost');
    answer.reject(lost);
    await expect(first).rejects.toBe(lost);
    expect(await next).toBe(2n);
  });

  it('is not fetched where it came with the grant', async () => {
    const token = new SharedFencingToken(7n);
    expect(await token.get(() => Promise.reject(new Error('asked')))).toBe(7n);
  });
});
