import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { hashTag, slotOf } from '../../../lib/redis/connection/cluster-slots.js';
import { LockName } from '../../../lib/redis/connection/lock-name.js';
import { parseNumbers } from '../../../lib/redis/connection/script.js';
import { Script } from '../../../lib/redis/connection/script.js';
import { newPermitHolder, permitIdsOf } from '../../../lib/redis/semaphores/permit-holder.js';
import { SharedFencingToken } from '../../../lib/redis/locks/redis-grant.js';
import * as scripts from '../../../lib/redis/scripts/index.js';
import { Deferred } from '../../support/time.js';

const FOLDER = 'lib/redis/scripts';
const FILES = new Map(
  ['locks', 'semaphores'].flatMap((room) =>
    readdirSync(join(FOLDER, room)).map((file) => [file.slice(0, -4), `${room}/${file}`]),
  ),
);
const NAMES = [...FILES.keys()];
const sourceOf = (name: string) => readFileSync(join(FOLDER, FILES.get(name)!), 'utf8');

describe('The scripts', () => {
  it('are all in the module that is made of them', () => {
    const names = Object.values(scripts).map(({ name }) => name);
    expect(names.sort()).toEqual(NAMES.sort());
    expect(NAMES.length).toBeGreaterThan(0);
  });

  it.each(NAMES)('stand in it as they are, less their lines of comment: %s', (name) => {
    const source = sourceOf(name)
      .replace(/^-- include (.*)\n/gm, (_, part: string) =>
        readFileSync(join(FOLDER, `parts/${part}.lua`), 'utf8'),
      )
      .replace(/^ *--.*\n/gm, '');
    const constant = name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    const script = scripts[constant as keyof typeof scripts];
    const sha1 = createHash('sha1').update(source).digest('hex');
    expect(script).toBeInstanceOf(Script);
    expect(script).toMatchObject({ name, source, sha1 });
  });

  it.each(NAMES)('say what they do, what they want and what they answer: %s', (name) => {
    const [comment] = sourceOf(name).split(/^(?!--)/m);
    expect(comment).toMatch(/^-- [A-Z][^.]*\./);
    for (const part of ['KEYS', 'ARGV', '->']) expect(comment).toContain(part);
  });
});

const HOLDER = '2b0e4c9e-6c0b-4ad8-9a3e-4f3d7f0a9c11:7';

describe('The names of a lock, as Redisson makes them,', () => {
  it('put a key without braces into braces', () => {
    const name = new LockName('orders');
    expect(name).toMatchObject({
      redisKey: 'orders',
      channel: 'redisson_lock__channel:{orders}',
      readWriteChannel: 'redisson_rwlock:{orders}',
      token: 'redisson_lock_token:{orders}',
      queue: 'redisson_lock_queue:{orders}',
      timeouts: 'redisson_lock_timeout:{orders}',
    });
    expect(name.hold(HOLDER)).toBe(`{orders}:${HOLDER}:rwlock_timeout:1`);
  });

  it.each(['{orders}:1', 'shop:{orders}', 'a{b', 'a{}b', '{'])(
    'leave a key with a brace as it is (%s)',
    (key) => {
      const name = new LockName(key);
      expect(name).toMatchObject({
        redisKey: key,
        channel: `redisson_lock__channel:${key}`,
        readWriteChannel: `redisson_rwlock:${key}`,
        token: `redisson_lock_token:${key}`,
        queue: `redisson_lock_queue:${key}`,
        timeouts: `redisson_lock_timeout:${key}`,
      });
      expect(name.hold(HOLDER)).toBe(`${key}:${HOLDER}:rwlock_timeout:1`);
    },
  );

  it.each([
    ['orders', '{orders}'],
    ['{orders}', 'orders'],
    ['a}', '{a}}'],
    ['{a}}', 'a}'],
    ['{orders}:1', undefined],
    ['shop:{orders}', undefined],
    ['{{a}}', undefined],
    ['{}', undefined],
    ['{', undefined],
  ])('are the same as those of another, its twin (%s)', (key, twin) => {
    const name = new LockName(key);
    expect(name.twin).toBe(twin);
    if (twin !== undefined)
      expect(new LockName(twin)).toMatchObject({ tagged: name.tagged, twin: key });
  });

  it('put a prefix inside of the braces', () => {
    expect(new LockName('test::orders').channel).toBe('redisson_lock__channel:{test::orders}');
  });

  it.each(['orders', '{orders}:1', 'shop:{orders}', 'a b', 'ä', '{ }'])(
    'all lie in the slot of the key (%s)',
    (key) => {
      const name = new LockName(key);
      const { channel, readWriteChannel, token, queue, timeouts, alive, writers } = name;
      const names = [channel, readWriteChannel, token, queue, timeouts, alive, writers];
      for (const other of [...names, name.hold(HOLDER), name.hold(`${HOLDER}:write`)])
        expect(slotOf(other)).toBe(slotOf(key));
    },
  );
});

describe('A hash tag', () => {
  it.each([
    ['orders', 'orders'],
    ['{orders}', 'orders'],
    ['shop:{orders}:{1}', 'orders'],
    ['{a{b}c}', 'a{b'],
    ['a}b{c}', 'c'],
    ['{}', '{}'],
    ['a{}{b}', 'a{}{b}'],
    ['a{b', 'a{b'],
    ['a}b', 'a}b'],
    ['', ''],
  ])('of %p is %p', (name, tag) => {
    expect(hashTag(name)).toBe(tag);
    const bare = tag.replaceAll(/[{}]/g, '');
    if (bare === tag) expect(slotOf(name)).toBe(slotOf(tag));
  });
});

describe('A holder of permits', () => {
  it.each([1, 2, 16, 300])('of %i has as many ids, each 16 bytes and another one', (permits) => {
    const ids = permitIdsOf(newPermitHolder(permits));
    expect(ids).toHaveLength(permits);
    expect(new Set(ids).size).toBe(permits);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/);
  });

  it('has the same ids whenever they are asked for', () => {
    const holder = newPermitHolder(3);
    expect(permitIdsOf(holder)).toEqual(permitIdsOf(holder));
  });

  it('has no id of another holder', () => {
    const ids = Array.from({ length: 100 }, () => permitIdsOf(newPermitHolder(5))).flat();
    expect(new Set(ids).size).toBe(500);
  });

  it('says how many permits it has in its last four bytes, the first byte first', () => {
    expect(newPermitHolder(1)).toMatch(/^[0-9a-f]{24}00000001$/);
    expect(newPermitHolder(0x0102)).toMatch(/00000102$/);
    expect(newPermitHolder(2 ** 31 - 1)).toMatch(/7fffffff$/);
  });

  it('has ids that say which one they are', () => {
    const holder = `${'ab'.repeat(12)}00000002`;
    expect(permitIdsOf(holder)).toEqual([
      `${'ab'.repeat(12)}00000000`,
      `${'ab'.repeat(12)}00000001`,
    ]);
  });
});

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

it.each([
  [1, 1],
  ['1', 1],
  ['-1', -1],
  [null, null],
  [
    [1, 30_000],
    [1, 30_000],
  ],
  [
    ['0', '30000'],
    [0, 30_000],
  ],
  [
    [0, '-1', 0, 'b983:47', '{"pid":1}'],
    [0, -1, 0, 'b983:47', '{"pid":1}'],
  ],
  [[], []],
])('The answer %j of a script is %j', (answer, numbers) => {
  expect(parseNumbers(answer)).toEqual(numbers);
});
