import { describe, expect, it } from '@jest/globals';
import {
  isCanonicalPath,
  nodeName,
  parentPath,
} from '../../../lib/zookeeper/connection/znode-path.js';

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
