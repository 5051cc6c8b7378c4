import { describe, expect, it } from '@jest/globals';
import { LockOptionsError } from '../../../lib/core/errors/index.js';
import type { Lock, LockRecipe } from '../../../lib/core/lock.js';
import { MultiLock } from '../../../lib/core/multi-lock.js';
import { Part } from './multi-lock-part.js';

describe('The parts of a multi-lock', () => {
  const part = (key: string, recipe?: LockRecipe, scope?: object) =>
    new Part(key, [], recipe, scope);
  const keysOf = (locks: readonly Lock[]) => new MultiLock(locks).locks.map(({ key }) => key);

  it('are in the order of their names on the servers, however they were given', () => {
    expect(keysOf(['c', 'a', 'b'].map((key) => part(key)))).toEqual(['a', 'b', 'c']);
    const odd = ['\uff5e', 'ä', 'z', 'Z', '10', '9', '🔒']; // by code units, as in every other process
    expect(keysOf(odd.map((key) => part(key)))).toEqual(['10', '9', 'Z', 'z', 'ä', '🔒', '\uff5e']);
  });

  it('are, where they have one name, in the order of the names of their clients', () => {
    const [first, second] = ['first', 'second'].map(
      (client) => new Part('a', [], 'mutex', { client }, client),
    );
    for (const given of [
      [first!, second!],
      [second!, first!],
    ])
      expect(new MultiLock(given).locks).toEqual([first, second]);
  });

  it('give it its key', () => {
    const multi = new MultiLock([part('b'), part('a')]);
    expect(multi.key).toBe('a + b');
    expect(multi.identity).toMatchObject({ recipe: 'multiLock' });
  });

  it('include those of nested multi-locks, however deep', () => {
    const deep = new MultiLock([part('d'), new MultiLock([part('b'), part('a')])]);
    expect(keysOf([part('c'), deep])).toEqual(['a', 'b', 'c', 'd']);
  });

  it('include those of a multi-lock that another copy of this package made', () => {
    const foreign = Object.assign(part('nested', 'multiLock'), { locks: [part('c'), part('a')] });
    expect(keysOf([part('b'), foreign])).toEqual(['a', 'b', 'c']);
  });

  it('are taken down when it is made: what happens to the list afterwards changes nothing', () => {
    const locks = [part('b'), part('a')];
    const multi = new MultiLock(locks);
    locks.push(part('c'));
    expect(multi.locks.map(({ key }) => key)).toEqual(['a', 'b']);
    expect(locks.map(({ key }) => key)).toEqual(['b', 'a', 'c']);
  });

  it.each(['mutex', 'semaphoreMutex', 'readLock', 'writeLock'] as const)(
    'count once when they are the same %s',
    (recipe) => {
      const twice = [part('a', recipe), part('b'), part('a', recipe)];
      expect(keysOf(twice)).toEqual(['a', 'b']);
      expect(keysOf([new MultiLock(twice), new MultiLock(twice)])).toEqual(['a', 'b']);
    },
  );

  it('are different ones when they belong to different clients', () => {
    expect(keysOf([part('a'), part('a', 'mutex', {})])).toEqual(['a', 'a']);
  });

  it.each([
    ['a read and a write lock of one key', () => [part('a', 'readLock'), part('a', 'writeLock')]],
    ['a semaphore twice', () => [part('a', 'semaphore'), part('a', 'semaphore')]],
    [
      'a semaphore inside and outside of a nested one',
      () => [part('a', 'semaphore'), new MultiLock([part('a', 'semaphore')])],
    ],
    ['none at all', () => []],
    ['no list', () => part('a') as unknown as Lock[]],
    ['a list with a gap', () => [part('a'), undefined as unknown as Lock]],
    ['a key', () => ['a' as unknown as Lock]],
  ])('are refused when they are %s', (_, locks) => {
    expect(() => new MultiLock(locks())).toThrow(LockOptionsError);
  });
});
