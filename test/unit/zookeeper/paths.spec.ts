import { describe, expect, it } from '@jest/globals';
import { LockKeyError } from '../../../lib/core/errors/index.js';
import {
  isCanonicalPath,
  nodeName,
  parentPath,
} from '../../../lib/zookeeper/connection/znode-path.js';
import { lockPath } from '../../../lib/zookeeper/lock-path.js';

const pathOf = (key: string) => lockPath({ basePath: '/locks' }, key, 'unit');
const literalOf = (key: string) =>
  lockPath({ basePath: '/locks', literalPaths: true }, key, 'unit');

describe('The path of a lock', () => {
  it.each([
    ['order', '/locks/order'],
    ['order:42', '/locks/order%3A42'],
    ['a/b', '/locks/a%2Fb'],
    ['a b', '/locks/a%20b'],
    ['100%', '/locks/100%25'],
    ['.', '/locks/%2E'],
    ['..', '/locks/%2E%2E'],
    ['...', '/locks/...'],
    ['a.b', '/locks/a.b'],
    ['ключ', '/locks/%D0%BA%D0%BB%D1%8E%D1%87'],
    ['🔒', '/locks/%F0%9F%94%92'],
    ['/curator/orders', '/locks/%2Fcurator%2Forders'],
    ['/', '/locks/%2F'],
    ['/a/../b', '/locks/%2Fa%2F..%2Fb'],
  ])('of the key %j is %j', (key, path) => expect(pathOf(key)).toBe(path));

  it('is one component that every server takes, and another one for another key', () => {
    const all = Array.from({ length: 0x3000 }, (_, code) => String.fromCodePoint(code + 1));
    const characters = all.filter((it) => !/\p{Cc}/u.test(it));
    const keys = characters.flatMap((it) => [`a${it}b`, `${it}${it}c`]);
    const paths = keys.map(pathOf);
    expect(paths.filter((path) => !isCanonicalPath(path))).toEqual([]);
    expect(paths.filter((path) => path.split('/').length !== 3)).toEqual([]);
    expect(new Set(paths).size).toBe(new Set(keys).size);
  });

  it.each([
    ['/curator/orders', '/curator/orders'],
    ['a/b', '/locks/a%2Fb'],
  ])('of the key %j is %j with literal paths', (key, path) => expect(literalOf(key)).toBe(path));

  it.each(['/', '/a/', '//a', '/a//b', '/.', '/a/..', '/a/./b', '/a\ue000b', '/🔒'])(
    'cannot be the literal %j',
    (key) => {
      expect(() => literalOf(key)).toThrow(LockKeyError);
      expect(() => literalOf(key)).toThrow(
        expect.objectContaining({
          key,
          client: 'unit',
          message: expect.stringContaining('a key that starts with "/" is a path'),
        }),
      );
    },
  );
});

describe('A path', () => {
  it.each(['/a', '/a/b/c', '/a b', '/...', '/.a', '/a.', '/ä', '/%2F', '/_c_1-lock-0000000001'])(
    'is canonical: %j',
    (path) => expect(isCanonicalPath(path)).toBe(true),
  );

  it.each([
    '',
    'a',
    '/',
    '//',
    '/a/',
    '/a//b',
    '/.',
    '/..',
    '/a/./b',
    '/a/../b',
    '/a\0b',
    '/a\nb',
    '/a\x7fb',
    '/a\x9fb',
    '/a\ud800',
    '/a\uf000',
    '/a\uffff',
    undefined,
    5,
  ])('is not canonical: %j', (path) => expect(isCanonicalPath(path)).toBe(false));

  it('has a parent and a name', () => {
    expect(parentPath('/a/b/c')).toBe('/a/b');
    expect(parentPath('/a')).toBe('/');
    expect(nodeName('/a/b/c')).toBe('c');
    expect(nodeName('/a')).toBe('a');
  });
});
